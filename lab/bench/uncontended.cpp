// SPDX-License-Identifier: Apache-2.0
// Family `uncontended`: what an acquire and its release cost when nobody else wants the lock. A second thread, the main
// one, is asleep: that it exists keeps glibc from leaving out the atomics that a lone thread would not need.
#include "batches.hpp"
#include "contest.hpp"
#include "family.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  Wanted wanted(arguments, Settings(arguments, 1, 1));
  wanted.alone = true;
  arguments.finish();

  Crew crew(wanted.settings);
  Contest contest(wanted, crew);
  auto& tally = crew.tally(0);
  Batches batches;
  const auto sample = crew.measure([&](unsigned) {
    while (!crew.over().load(std::memory_order_relaxed)) {
      batches.time(crew.window(), [&] { contest.lock().bare(0, Batches::episodes); });
      tally.store(tally.load(std::memory_order_relaxed) + Batches::episodes, std::memory_order_relaxed);
    }
  });
  json.number("ns", batches.nanoseconds());
  contest.write(json, sample);
}

}  // namespace

const Family uncontended{"uncontended", "one thread alone: the time for an acquire and its release", run};

}  // namespace bench
