// SPDX-License-Identifier: Apache-2.0
// Stepping aside (waiting/yield_before_park.hpp): by a few at a time, not near a deadline, and not beside a thread that
// just computes.
#include <fairlock/fairlock.hpp>

#include <optional>

#if defined(__linux__)
#include <sched.h>
#endif

#include "support/check.hpp"

using namespace fairlock;

namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::uint64_t second = 1'000'000'000;

// On a busy machine any step may be dear, and after a few of those the place has lapsed.
void step(std::optional<Aside>& aside) {
  do {
    process_steps.dear_until.store(0, relaxed);
    aside.emplace();
  } while (!aside->step(never));
}

void all_places_are_taken_until(std::uint64_t time) {
  for (auto& place : process_steps.taken_until) place.store(time, relaxed);
}

void a_few_at_a_time() {
  check::step("a few at a time");
  std::optional<Aside> many[Steps::most];
  for (auto& aside : many) step(aside);
  Aside one_more;
  const auto lease = process_steps.taken_until[0].load(relaxed);
  all_places_are_taken_until(steady_now() + 100 * second);
  process_steps.dear_until.store(0, relaxed);
  CHECK(!one_more.step(never));
  {
    Aside others[2];
    CHECK(!others[0].step(never) && !others[1].step(never));
  }
  CHECK(!one_more.step(never));  // those who had no place gave none back
  many[0].reset();               // its place has become another's
  CHECK(!one_more.step(never));
  all_places_are_taken_until(lease);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  process_steps.dear_until.store(0, relaxed);
  CHECK(!many[1]->step(never));  // it has lapsed
  step(many[0]);
}

// The only place, so that nobody else's can be mistaken for it.
void a_place_is_given_back() {
  check::step("a place is given back");
  all_places_are_taken_until(steady_now() + 100 * second);
  auto& place = process_steps.taken_until[0];
  place.store(0, relaxed);
  {
    std::optional<Aside> aside;
    step(aside);
    CHECK(place.load(relaxed) > steady_now() - second);
  }
  CHECK(place.load(relaxed) == 0);
  all_places_are_taken_until(0);
}

void places_of_the_dead() {
  check::step("places of threads that are gone");
  all_places_are_taken_until(steady_now() + 100 * second);
  CHECK(!Aside().step(never));
  all_places_are_taken_until(steady_now() - 1);
  std::optional<Aside> aside;
  step(aside);
  all_places_are_taken_until(0);
}

void before_a_deadline() {
  check::step("before a deadline");
  std::optional<Aside> aside;
  step(aside);
  process_steps.dear_until.store(0, relaxed);
  CHECK(!aside->step(0));
  CHECK(!aside->step(steady_now() + 100'000));
}

void a_step_that_is_dear() {
  check::step("a step that is dear");
  constexpr auto start = 1000 * second, slice = 4'000'000 + Steps::dear;
  Steps steps{};
  const auto are_dear_for = [&](std::uint64_t from, std::uint64_t duration) {
    return steps.dear_until.load(relaxed) == from + duration && steps.dear_for.load(relaxed) == duration;
  };
  CHECK(!steps.took(start, start + Steps::dear - 1) && are_dear_for(0, 0));
  auto now = start + slice;
  CHECK(steps.took(start, now) && are_dear_for(now, 32 * slice));
  CHECK(steps.took(start, now + 1) && are_dear_for(now, 32 * slice));  // two who felt it together count once

  // The time is over, and it is as dear as before: twice as long, up to a limit.
  for (auto duration = 32 * slice; duration < Steps::longest;) {
    const auto before = now + duration;
    duration = std::min(2 * duration, Steps::longest);
    now = before + Steps::dear;
    CHECK(steps.took(before, now) && are_dear_for(now, duration));
  }

  now += 3 * Steps::longest;  // that was long ago
  CHECK(steps.took(now, now + Steps::dear) && are_dear_for(now + Steps::dear, 32 * Steps::dear));
  now += 3 * Steps::longest;
  CHECK(steps.took(now, now + second) && are_dear_for(now + second, Steps::longest));

  Aside aside;
  process_steps.dear_until.store(steady_now() + 100 * second, relaxed);
  CHECK(!aside.step(never));  // nobody does
  process_steps.dear_until.store(0, relaxed);
}

// A short wait that sees whether it stepped aside: between two steps it has a place.
struct Asked : WaitObserver {
  bool may_step;
  std::uint64_t at = steady_now() + 10'000'000;
  mutable bool stepped = false;
  std::uint64_t deadline() const { return at; }
  bool interrupted() const {
    for (auto& place : process_steps.taken_until) stepped |= place.load(relaxed) != 0;
    return false;
  }
  bool may_yield() const { return may_step; }
  const Asked& observer() const { return *this; }
};

void waits_that_may_and_may_not() {
  check::step("waits that may step aside and that may not");
  TwaLock<Native<SpinThenPark>> lock;
  const auto held = lock.acquire();
  for (unsigned rounds = 0;; ++rounds) {  // a step that was dear was the last one
    process_steps.dear_until.store(0, relaxed);
    const Asked may{{}, true};
    CHECK(!lock.acquire_until(may));
    if (may.stepped) break;
    if (!CHECK(rounds < 1000)) break;
  }
  const Asked may_not{{}, false};
  CHECK(!lock.acquire_until(may_not));
  CHECK(!may_not.stepped);
  lock.release(held);
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
    std::thread computing([&] {
      while (!over.load(relaxed)) {}
    });  // on the same one
    process_steps.dear_until.store(0, relaxed);
    process_steps.dear_for.store(0, relaxed);
    while (process_steps.dear_until.load(relaxed) == 0) Aside().step(never);
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
  a_place_is_given_back();
  places_of_the_dead();
  before_a_deadline();
  a_step_that_is_dear();
  waits_that_may_and_may_not();
#if defined(__linux__)
  beside_a_thread_that_computes();
#endif
  return check::result();
}
