// SPDX-License-Identifier: Apache-2.0
// The platform of the preloaded locks keeps the contract of every platform, under each waiting policy.
#include "support/check.hpp"

#if defined(__GLIBC__)
#include <fairlock/waiting/policies.hpp>

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
  fairlock::for_each_policy(fairlock::Policies{},
                            []<class W>() { keeps_the_contract<fairlock::preload::Preloaded<W>>(W::name); });
  return check::result();
}
#else
int main() { return check::skipped; }
#endif
