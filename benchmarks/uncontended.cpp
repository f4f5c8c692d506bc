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
  Member& member = contest.join(0);
  member.quota = Batches::episodes;
  Batches batches;
  const auto sample = crew.measure([&](unsigned) {
    while (!crew.over().load(std::memory_order_relaxed))
      batches.time(crew.window(), [&] { contest.lock().work(member); });
  });
  json.number("ns", batches.nanoseconds());
  contest.write(json, sample);
}

}  // namespace

const Family uncontended{"uncontended", "one thread alone: the time for an acquire and its release", run};

}  // namespace bench
