// SPDX-License-Identifier: Apache-2.0
// Yielding before a sleep (waiting/yield_before_park.hpp): only a few threads at a time, not just before a deadline,
// and not beside a thread that only computes.
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

void lift_the_ban() { process_yields.banned_until.store(0, relaxed); }

// On a busy machine any yield may be expensive, and after a few of those the turn has lapsed. So this tries again.
void yield_in(std::optional<YieldTurn>& turn) {
  do {
    lift_the_ban();
    turn.emplace();
  } while (!turn->yield(never));
}

void all_places_are_taken_until(std::uint64_t time) {
  for (auto& place : process_yields.taken_until) place.store(time, relaxed);
}

void only_a_few_at_a_time() {
  check::step("only a few at a time");
  std::optional<YieldTurn> turns[YieldStatistics::max_yielders];
  for (auto& turn : turns) yield_in(turn);
  YieldTurn one_too_many;
  const auto lease = process_yields.taken_until[0].load(relaxed);
  all_places_are_taken_until(steady_now() + 100 * second);
  lift_the_ban();
  CHECK(!one_too_many.yield(never));
  {
    YieldTurn others[2];
    CHECK(!others[0].yield(never) && !others[1].yield(never));
  }
  CHECK(!one_too_many.yield(never));  // the others had no place to give back
  turns[0].reset();                   // another thread has taken its place
  CHECK(!one_too_many.yield(never));
  all_places_are_taken_until(lease);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  lift_the_ban();
  CHECK(!turns[1]->yield(never));  // its turn has lapsed
  yield_in(turns[0]);
}

// With a single free place, the test knows which place the thread takes.
void a_place_is_given_back() {
  check::step("a place is given back");
  all_places_are_taken_until(steady_now() + 100 * second);
  auto& place = process_yields.taken_until[0];
  place.store(0, relaxed);
  {
    std::optional<YieldTurn> turn;
    yield_in(turn);
    CHECK(place.load(relaxed) > steady_now() - second);
  }
  CHECK(place.load(relaxed) == 0);
  all_places_are_taken_until(0);
}

void places_of_threads_that_ended() {
  check::step("places of threads that ended");
  all_places_are_taken_until(steady_now() + 100 * second);
  CHECK(!YieldTurn().yield(never));
  all_places_are_taken_until(steady_now() - 1);
  std::optional<YieldTurn> turn;
  yield_in(turn);
  all_places_are_taken_until(0);
}

void before_a_deadline() {
  check::step("before a deadline");
  std::optional<YieldTurn> turn;
  yield_in(turn);
  lift_the_ban();
  CHECK(!turn->yield(0));
  CHECK(!turn->yield(steady_now() + 100'000));
}

void an_expensive_yield() {
  check::step("an expensive yield");
  constexpr auto expensive = YieldStatistics::expensive, longest_ban = YieldStatistics::longest_ban;
  constexpr auto start = 1000 * second, slice = 4'000'000 + expensive;
  YieldStatistics yields{};
  const auto banned_for = [&](std::uint64_t from, std::uint64_t duration) {
    return yields.banned_until.load(relaxed) == from + duration && yields.ban.load(relaxed) == duration;
  };
  CHECK(!yields.record(start, start + expensive - 1) && banned_for(0, 0));
  auto now = start + slice;
  CHECK(yields.record(start, now) && banned_for(now, 32 * slice));
  CHECK(yields.record(start, now + 1) && banned_for(now, 32 * slice));  // two threads with the same delay count once

  // The ban is over, and the next yield is as expensive: the ban doubles, up to a limit.
  for (auto duration = 32 * slice; duration < longest_ban;) {
    const auto before = now + duration;
    duration = std::min(2 * duration, longest_ban);
    now = before + expensive;
    CHECK(yields.record(before, now) && banned_for(now, duration));
  }

  now += 3 * longest_ban;  // the last ban was long ago
  CHECK(yields.record(now, now + expensive) && banned_for(now + expensive, 32 * expensive));
  now += 3 * longest_ban;
  CHECK(yields.record(now, now + second) && banned_for(now + second, longest_ban));

  YieldTurn turn;
  process_yields.banned_until.store(steady_now() + 100 * second, relaxed);
  CHECK(!turn.yield(never));  // the ban is for every thread
  lift_the_ban();
}

// A short wait that notices whether its thread yielded: between two yields the thread has a place.
struct ShortWait : WaitObserver {
  bool yielding_allowed;
  std::uint64_t at = steady_now() + 10'000'000;
  mutable bool yielded = false;
  std::uint64_t deadline() const { return at; }
  bool interrupted() const {
    for (auto& place : process_yields.taken_until) yielded |= place.load(relaxed) != 0;
    return false;
  }
  bool may_yield() const { return yielding_allowed; }
  const ShortWait& observer() const { return *this; }
};

void waits_that_may_and_may_not_yield() {
  check::step("waits that may and may not yield");
  TwaLock<Native<SpinThenPark>> lock;
  const auto held = lock.acquire();
  for (unsigned rounds = 0;; ++rounds) {  // an expensive yield is the last one of its wait
    lift_the_ban();
    const ShortWait may{{}, true};
    CHECK(!lock.acquire_until(may));
    if (may.yielded) break;
    if (!CHECK(rounds < 1000)) break;
  }
  const ShortWait may_not{{}, false};
  CHECK(!lock.acquire_until(may_not));
  CHECK(!may_not.yielded);
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
  std::thread yielding([&] {
    stay_on_one_processor();
    std::thread computing([&] {
      while (!over.load(relaxed)) {}
    });  // inherits the processor
    lift_the_ban();
    process_yields.ban.store(0, relaxed);
    while (process_yields.banned_until.load(relaxed) == 0) YieldTurn().yield(never);
    over = true;
    computing.join();
  });
  yielding.join();
  lift_the_ban();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  only_a_few_at_a_time();
  a_place_is_given_back();
  places_of_threads_that_ended();
  before_a_deadline();
  an_expensive_yield();
  waits_that_may_and_may_not_yield();
#if defined(__linux__)
  beside_a_thread_that_computes();
#endif
  return check::result();
}
