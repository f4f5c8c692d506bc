// SPDX-License-Identifier: Apache-2.0
// The platform of the preloaded locks keeps the contract of every platform, under each of its waiting policies.
#include "support/check.hpp"

#if defined(__GLIBC__)
#include "platform.hpp"
#include "support/platform_contract.hpp"

namespace {

template <class P>
void keeps_the_contract(const char* policy) {
  check::step("preloaded", policy);
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
  check::start(argc, argv);
  for (const char* const policy : {"spin-then-park", "park"}) {
    setenv("FAIRLOCK_WAITING", policy, 1);
    fairlock::preload::SleepingPolicies::read_environment();
    keeps_the_contract<fairlock::preload::SleepingPlatform>(policy);
  }
  return check::result();
}
#else
int main() { return check::skipped; }
#endif
