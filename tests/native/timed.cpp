// SPDX-License-Identifier: Apache-2.0
// Waiters that leave early: every lock and semaphore whose waiters can leave, under a policy that sleeps and one that
// does not, with deadlines that pass at every depth of the line. No grant is lost, exclusion holds, no entry remains in
// the domain, and deadlines in the past or in the infinite future are respected.
#include <fairlock/fairlock.hpp>

#include <chrono>
#include <random>

#include "support/check.hpp"
#include "support/enterable.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

namespace {

template <class P>
void expect_no_leavers() {
  auto& domain = P::domain();
  CHECK(domain.leavers.load(order::relaxed) == 0);
  CHECK(domain.reserved.load(order::relaxed) == 0);
}

// Some threads wait for ever, some give up after a random time, and some only try.
template <class P, class T>
void crowd(unsigned threads, unsigned rounds) {
  T thing;
  std::mt19937 shared;
  std::atomic<std::uint64_t> steps{0};
  check::together(threads, [&](unsigned t) {
    std::minstd_rand dice(t + 1);
    for (unsigned i = 0; i < rounds; ++i) {
      const auto pick = dice() % 8;
      if (pick == 0) thing.enter();
      else if (pick == 1 ? !thing.try_enter() : !thing.enter(deadline_in(std::chrono::microseconds(dice() % 200))))
        continue;
      shared.discard(1);
      if (dice() % 16 == 0) std::this_thread::yield();  // let a line form
      steps.fetch_add(1, std::memory_order_relaxed);
      thing.leave();
    }
  });
  std::mt19937 again;
  again.discard(steps);
  CHECK(shared == again);
  CHECK(thing.free());
  expect_no_leavers<P>();
}

template <class T>
void deadlines() {
  T thing;
  CHECK(thing.enter(Deadline{0}));   // passed, but free: one try
  CHECK(!thing.enter(Deadline{0}));  // passed, and held
  CHECK(!thing.enter(deadline_in(-1h)));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(!thing.enter(deadline_in(20ms)));
  CHECK(std::chrono::steady_clock::now() - begin >= 20ms);
  CHECK(deadline_in(std::chrono::hours::max()).at == never);
  std::thread releaser([&] {
    std::this_thread::sleep_for(5ms);
    thing.leave();
  });
  CHECK(thing.enter(Deadline{never}));
  releaser.join();
  thing.leave();
  CHECK(thing.free());
}

// Durations and time points as the users of std::timed_mutex write them.
void durations() {
  check::step("durations");
  timed_mutex<"twa"> mutex;
  CHECK(mutex.try_lock_for(-1h));
  std::thread([&] {
    CHECK(!mutex.try_lock_until(std::chrono::steady_clock::time_point::min()));
    CHECK(!mutex.try_lock_until(std::chrono::system_clock::now() - 1h));
    CHECK(!mutex.try_lock_for(std::chrono::nanoseconds::min()));
    CHECK(!mutex.try_lock_for(1ms));
  }).join();
  std::thread waiter([&] {
    CHECK(mutex.try_lock_until(std::chrono::steady_clock::time_point::max()));
    mutex.unlock();
  });
  std::this_thread::sleep_for(2ms);
  mutex.unlock();
  waiter.join();
}

// Threads that poll behind an owner that holds the lock for long.
template <class P, class T>
void polling() {
  T thing;
  thing.enter();
  check::together(3, [&](unsigned t) {
    for (unsigned i = 0; i < check::rounds(60); ++i)
      CHECK(!thing.enter(deadline_in(std::chrono::microseconds(20 + 10 * t))));
  });
  thing.leave();
  CHECK(thing.try_enter());
  thing.leave();
  CHECK(thing.free());
  expect_no_leavers<P>();
}

template <class P, class T>
void test(std::string_view name) {
  check::step(std::string(name), "deadlines");
  deadlines<T>();
  check::step(std::string(name), "polling");
  polling<P, T>();
  check::step(std::string(name), "crowd");
  crowd<P, T>(4, check::rounds(300));
  crowd<P, T>(16, check::rounds(40));
}

template <class W>
void under() {
  using P = Native<W>;
  for_each_entry(Locks<P>{}, []<class E>() {
    using L = timed_form<typename E::Lock>;
    if constexpr (TimedLock<L> && E::properties.order != Order::long_term && (E::properties.parkable || !W::sleeps))
      test<P, Entered<L>>(std::string(E::name) + " " + W::name);
  });
  for_each_entry(Semaphores<P>{},
                 []<class E>() { test<P, Permitted<typename E::Semaphore>>(std::string(E::name) + " " + W::name); });
}

// A table with room for one entry: the other threads wait outside the line. None of them hangs or is forgotten.
template <template <class> class T>
void full_table() {
  using P = Native<SpinThenPark, DomainOptions{.leavers = 1}>;
  check::step("full table");
  T<P> lock;
  auto held = lock.acquire();
  check::together(4, [&](unsigned) {
    for (int i = 0; i < 5; ++i) CHECK(!lock.acquire_until(deadline_in(2ms)));
  });
  std::atomic<int> entered{0};
  std::thread releaser([&] {
    std::this_thread::sleep_for(5ms);
    lock.release(held);
  });
  check::together(4, [&](unsigned) {
    const auto mine = lock.acquire_until(deadline_in(60s));
    if (!CHECK(mine.has_value())) return;
    ++entered;
    lock.release(*mine);
  });
  releaser.join();
  CHECK(entered == 4);
  CHECK(!lock.locked());
  expect_no_leavers<P>();
}

// A wait that ends once the line has counted it.
struct CountedWait : WaitObserver {
  std::uint64_t at = never;
  mutable bool ever = false, now = false;
  std::uint64_t deadline() const { return at; }
  bool interrupted() const { return ever; }
  void claims_permit(bool claims) const {
    now = claims;
    ever |= claims;
  }
  const CountedWait& observer() const { return *this; }
};

template <class Waiting>
void counted_in_line_but_not_outside() {
  using P = Native<Waiting, DomainOptions{.leavers = 1}>;
  check::step("counted in line, but not outside");
  TwaSemaphore<P> semaphore(0);
  const CountedWait in_line;
  CHECK(!semaphore.acquire_until(in_line));
  CHECK(in_line.ever && !in_line.now);
  CHECK(Leavers<P>::reserve_unless([] { return false; }, Forever{}));
  const CountedWait outside{{}, steady_now() + 5'000'000};
  CHECK(!semaphore.acquire_until(outside));
  CHECK(!outside.ever);
  Leavers<P>::give_up_reservation();
  expect_no_leavers<P>();
}

// A fair line does not count a waiter that has no permit yet. It counts its head as soon as the head takes a permit.
template <class Waiting>
void counted_in_a_fair_line() {
  check::step("counted in a fair line");
  using Semaphore = FairSemaphore<Native<Waiting>>;
  struct Giving : CountedWait {
    Semaphore& semaphore;
    mutable unsigned asked = 0;
    bool interrupted() const {
      if (++asked == 2) semaphore.release();  // the first time it has not arrived yet
      return false;
    }
  };
  Semaphore semaphore(0);
  const CountedWait in_vain{{}, steady_now() + 5'000'000};
  CHECK(!semaphore.acquire_until(in_vain));
  CHECK(!in_vain.ever);
  const Giving given{{}, semaphore};
  CHECK(semaphore.acquire_until(given));
  CHECK(given.now);
  CHECK(semaphore.value() == 0);
}

// A wait that calls interrupted() every millisecond while it sleeps, and ends after `max_looks` calls.
struct PeriodicLook : WaitObserver {
  unsigned max_looks = ~0u;
  std::uint64_t at = never;
  mutable std::atomic<unsigned> looks{0};
  std::uint64_t deadline() const { return at; }
  bool interrupted() const { return looks.fetch_add(1) >= max_looks; }
  static std::uint64_t next_check() { return steady_now() + 1'000'000; }
  static constexpr bool may_yield() { return false; }
  const PeriodicLook& observer() const { return *this; }
};

// A waiter that wakes up only to call interrupted() has not timed out, and keeps its place in line.
template <class L>
void looks_between_sleeps(const char* name) {
  check::step(name);
  L lock;
  lock.lock();
  const PeriodicLook until_interrupted{{}, 20};
  CHECK(!lock.lock_until(until_interrupted));

  const PeriodicLook until_late{{}, ~0u, steady_now() + 30'000'000};
  CHECK(!lock.lock_until(until_late));
  CHECK(steady_now() >= until_late.at);

  const PeriodicLook until_served;
  std::atomic<bool> first_served{false};
  std::thread first([&] {
    CHECK(lock.lock_until(until_served));
    first_served = true;
    lock.unlock();
  });
  while (until_served.looks < 10) std::this_thread::yield();
  const PeriodicLook until_served_too;
  std::thread second([&] {
    CHECK(lock.lock_until(until_served_too));
    CHECK(first_served);
    lock.unlock();
  });
  while (until_served_too.looks < 10) std::this_thread::yield();
  lock.unlock();
  first.join();
  second.join();
}

template <class Waiting>
void looks_in_every_line() {
  using P = Native<Waiting>;
  looks_between_sleeps<Mutex<timed_form<TicketLock<P>>>>("looks between sleeps: ticket");
  looks_between_sleeps<Mutex<timed_form<TwaLock<P>>>>("looks between sleeps: twa");
  looks_between_sleeps<Mutex<timed_form<HapaxLock<P>>>>("looks between sleeps: hapax");
  looks_between_sleeps<Mutex<FairLock<P>>>("looks between sleeps: fair");
}

template <class P>
using Ticket = TicketLock<P>;
template <class P>
using Hapax = HapaxLock<P>;

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  under<Yield>();
  under<SpinThenPark>();
  durations();
  full_table<Ticket>();
  full_table<Hapax>();
  counted_in_line_but_not_outside<Spin>();
  counted_in_line_but_not_outside<SpinThenPark>();
  counted_in_a_fair_line<Spin>();
  counted_in_a_fair_line<SpinThenPark>();
  looks_in_every_line<SpinThenPark>();
  looks_in_every_line<BasicPark<PortableParking>>();
  return check::result();
}
