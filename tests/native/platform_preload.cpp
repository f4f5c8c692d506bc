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
void keeps_the_contract(const char* platform, const char* policy) {
  setenv("FAIRLOCK_WAITING", policy, 1);
  P::WaitingPolicies::read_environment();
  check::step(platform, policy);
  PlatformContract<P> contract{};
  std::thread([&] { contract.alone(); }).join();
  CHECK(contract.exits() == 1);
  for (unsigned i = check::rounds(200); i > 0; --i) {
    PlatformContract<P> pair{};
    check::together(2, [&](unsigned thread) { thread == 0 ? pair.wait() : pair.end_waits(); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlock::preload;
  check::start(argc, argv);
  for (const char* const policy : {"spin-then-park", "park"}) {
    keeps_the_contract<SleepingPlatform>("sleeping", policy);
    keeps_the_contract<SleepingPooledPlatform>("sleeping, of the lab", policy);
  }
  for (const char* const policy : {"yield", "spin", "monitor"}) keeps_the_contract<AwakePlatform>("awake", policy);
  return check::result();
}
#else
int main() { return check::skipped; }
#endif
