// Stepping aside (waiting/aside.hpp): by a few at a time, not near a deadline, and not beside a thread that just computes.
#include <fairlock/fairlock.hpp>

#if defined(__linux__)
#include <sched.h>
#endif

#include "support/check.hpp"

using namespace fairlock;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint64_t second = 1'000'000'000;

// On a busy machine any step may be dear.
void step(Aside& aside) {
  while (!aside.step(never)) process_steps.dear_until.store(0, relaxed);
}

void all_places_are_taken_until(std::uint64_t time) {
  for (auto& place : process_steps.taken_until) place.store(time, relaxed);
}

void a_few_at_a_time() {
  check::step("a few at a time");
  Aside many[Steps::most], one_more;
  for (auto& aside : many) step(aside);
  const auto lease = process_steps.taken_until[0].load(relaxed);
  all_places_are_taken_until(steady_now() + 100 * second);
  process_steps.dear_until.store(0, relaxed);
  CHECK(!one_more.step(never));
  {
    Aside others[2];
    CHECK(!others[0].step(never) && !others[1].step(never));
  }
  CHECK(!one_more.step(never));  // those who had no place gave none back
  many[0].~Aside();  // its place has become another's
  new (&many[0]) Aside();
  CHECK(!one_more.step(never));
  all_places_are_taken_until(lease);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  process_steps.dear_until.store(0, relaxed);
  CHECK(!many[1].step(never));  // it has lapsed
  step(one_more);
}

void places_of_the_dead() {
  check::step("places of threads that are gone");
  all_places_are_taken_until(steady_now() + 100 * second);
  CHECK(!Aside().step(never));
  all_places_are_taken_until(steady_now() - 1);
  Aside aside;
  step(aside);
  all_places_are_taken_until(0);
}

void before_a_deadline() {
  check::step("before a deadline");
  Aside aside;
  step(aside);
  process_steps.dear_until.store(0, relaxed);
  CHECK(!aside.step(0));
  CHECK(!aside.step(steady_now() + 100'000));
}

#if defined(__linux__)
void stay_on_one_processor() {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
}

void beside_a_thread_that_computes() {
  check::step("beside a thread that computes");
  std::atomic<bool> over{false};
  std::thread stepping([&] {
    stay_on_one_processor();
    std::thread computing([&] { while (!over.load(relaxed)) {} });  // on the same one
    auto& until = process_steps.dear_until;
    auto& duration = process_steps.dear_for;
    const auto until_dear = [] {
      Aside aside;
      while (aside.step(never)) {}
    };

    until.store(0, relaxed);
    duration.store(0, relaxed);
    until_dear();
    CHECK(until.load(relaxed) > steady_now());
    const auto first = duration.load(relaxed);
    CHECK(first >= 32 * 500'000);
    CHECK(!Aside().step(never));  // nobody does

    until.store(steady_now(), relaxed);  // the time is over, and it is as dear as before
    until_dear();
    CHECK(duration.load(relaxed) == std::min(2 * first, 2 * second));

    until.store(steady_now() - 100 * second, relaxed);  // that was long ago
    until_dear();
    CHECK(until.load(relaxed) > steady_now());
    CHECK(duration.load(relaxed) <= 2 * second);

    over = true;
    computing.join();
  });
  stepping.join();
  process_steps.dear_until.store(0, relaxed);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  a_few_at_a_time();
  places_of_the_dead();
  before_a_deadline();
#if defined(__linux__)
  beside_a_thread_that_computes();
#endif
  return check::result();
}
