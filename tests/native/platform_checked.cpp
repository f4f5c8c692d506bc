// SPDX-License-Identifier: Apache-2.0
// The platforms of the model checker keep the contract of every platform: in every schedule, under sequential
// consistency and under weak memory.
#include "support/platform_contract.hpp"

// The sanitizers do not follow a thread that switches to another stack.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main() { return check::skipped; }
#else
#include "check/checked.hpp"
#include "check/search.hpp"

using namespace fairlock::check;

namespace {

template <class P>
Program program_of(void (*body)(void*, unsigned, unsigned)) {
  using Contract = PlatformContract<P>;
  Program program;
  program.construct = [](void* memory) { new (memory) Contract{}; };
  program.body = body;
  program.name_fields = [](const void*, fairlock::runtime::Names&) {};
  program.fixture_size = sizeof(Contract);
  program.locks = 0;
  program.waits_for_deadlines = true;
  return program;
}

void explore_all(const Program& program, unsigned threads, bool weak) {
  Config config;
  config.threads = threads;
  config.weak = weak;
  config.domain.leavers = CheckedMemory::max_leavers;
  Progress progress;
  const auto result = explore(program, config, 5'000'000, progress);
  CHECK(result.complete && result.states > 0);
  if (!CHECK(result.violation.property == Property::none)) std::fprintf(stderr, "%s\n", result.violation.what.c_str());
}

template <class P>
void keeps_it_in_every_schedule(const char* platform) {
  using Contract = PlatformContract<P>;
  auto alone = program_of<P>([](void* contract, unsigned, unsigned) { static_cast<Contract*>(contract)->alone(); });
  alone.locked = [](const void* contract) { return static_cast<const Contract*>(contract)->exits() != 1; };
  const auto pair = program_of<P>([](void* contract, unsigned thread, unsigned) {
    if (thread == 0) static_cast<Contract*>(contract)->wait();
    else static_cast<Contract*>(contract)->end_waits([] {});
  });
  for (const bool weak : {false, true}) {
    check::step(platform, weak ? "weak memory" : "sequential consistency");
    explore_all(alone, 1, weak);
    explore_all(pair, 2, weak);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("FAIRLOCK_TEST_EMULATED") != nullptr) return check::skipped;  // the exploration would take too long
  check::start(argc, argv);
  keeps_it_in_every_schedule<Checked>("checked");
  keeps_it_in_every_schedule<CheckedSleeping>("checked, sleeping");
  keeps_it_in_every_schedule<CheckedStepAside>("checked, yielding");
  keeps_it_in_every_schedule<CheckedStepAsideThenSleep>("checked, yielding before sleep");
  return check::result();
}
#endif
