// SPDX-License-Identifier: Apache-2.0
// Family `uncontended`: the cost of an acquire and its release when no other thread uses the lock. The main thread also
// exists, and sleeps. In a process with a single thread, glibc would omit the atomic operations.
#include "families/family.hpp"
#include "harness/batch_timer.hpp"
#include "harness/lock_trial.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  TrialOptions options(arguments, CommonOptions(arguments, 1, 1));
  options.single_thread = true;
  arguments.finish();

  Crew crew(options.common);
  LockTrial trial(options, crew);
  auto& tally = crew.tally(0);
  BatchTimer timer;
  const auto sample = crew.measure([&](unsigned) {
    while (!crew.over().load(std::memory_order_relaxed)) {
      timer.time(crew.window(), [&] { trial.loop().run_empty(0, BatchTimer::episodes); });
      tally.store(tally.load(std::memory_order_relaxed) + BatchTimer::episodes, std::memory_order_relaxed);
    }
  });
  json.number("ns", timer.nanoseconds());
  trial.write(json, sample);
}

}  // namespace

const Family uncontended{"uncontended", "the time of an acquire and its release, with a single thread", run};

}  // namespace bench
