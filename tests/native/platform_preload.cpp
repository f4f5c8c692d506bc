// SPDX-License-Identifier: Apache-2.0
// The platforms of the preloaded locks, of the product and of the lab, keep the contract of every platform, under each
// of their waiting policies.
#include "support/check.hpp"

#if defined(__GLIBC__)
#define FAIRLOCK_PRELOAD_LOCK "mcs"
#define FAIRLOCK_PRELOAD_AWAKE 1
#include "preload/choice.hpp"
#include "support/platform_contract.hpp"

namespace {

template <class P>
void under_policy(const char* platform, const char* policy) {
  setenv("FAIRLOCK_WAITING", policy, 1);
  P::WaitingPolicies::read_environment();
  keeps_the_contract<P>(platform, policy);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlock::preload;
  check::start(argc, argv);
  for (const char* const policy : {"spin-then-park", "park"}) {
    under_policy<SleepingPlatform>("sleeping", policy);
    under_policy<SleepingPooledPlatform>("sleeping, of the lab", policy);
  }
  for (const char* const policy : {"yield", "spin", "monitor"}) under_policy<AwakePlatform>("awake", policy);
  return check::result();
}
#else
int main() { return check::skipped; }
#endif
