// SPDX-License-Identifier: Apache-2.0
// The condition: producers and consumers lose nothing, the oldest waiter is notified first, and timeouts, interrupts
// and exceptions lose no notification. notify_all wakes every waiter, and the condition may be destroyed as soon as all
// waiters are notified.
#include <array>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <fairlock/fairlock.hpp>

#include "support/check.hpp"
#include "support/hooked.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

static_assert(sizeof(condition) == 16 && std::is_trivially_destructible_v<condition>);
static_assert(!std::is_copy_constructible_v<condition> && !std::is_move_constructible_v<condition>);
constinit condition all_zero;  // needs no constructor at run time

namespace {

#ifdef FAIRLOCK_TEST_JITTER
template <class Waiting>
using ConditionWith = Condition<Jittery<Native<Waiting>>>;
#else
template <class Waiting>
using ConditionWith = basic_condition<Waiting>;
#endif

// A buffer of three places.
template <class M, class C>
void producers_and_consumers(unsigned pairs, unsigned rounds) {
  M mutex;
  C not_full, not_empty;
  std::array<unsigned, 3> places{};
  std::size_t put = 0, taken = 0;
  std::atomic<std::uint64_t> sum{0};
  check::together(2 * pairs, [&](unsigned t) {
    for (unsigned i = 1; i <= rounds; ++i) {
      std::unique_lock held(mutex);
      if (t % 2 == 0) {
        not_full.wait(held, [&] { return put - taken < places.size(); });
        places[put++ % places.size()] = i;
        held.unlock();
        not_empty.notify_one();
      } else {
        not_empty.wait(held, [&] { return put != taken; });
        sum += places[taken++ % places.size()];
        not_full.notify_one();
      }
    }
  });
  CHECK(sum == std::uint64_t{pairs} * rounds * (rounds + 1) / 2);
  CHECK(!not_full.waited_for() && !not_empty.waited_for());
}

// Waiters that arrive one after the other, and the order in which they are notified.
template <class C>
struct Parade {
  mutex<"ticket"> lock;
  C condition;
  unsigned arrived = 0, waiting = 0;
  std::vector<unsigned> notified;
  std::vector<std::thread> threads;

  template <class U = Forever>
  void enter(U until = {}) {
    const unsigned number = static_cast<unsigned>(threads.size());
    threads.emplace_back([this, number, until] {
      std::unique_lock held(lock);
      ++arrived;
      ++waiting;
      if (condition.wait_until(held, until)) notified.push_back(number);
      --waiting;
    });
    // A thread that has arrived and released the lock is in line.
    check::wait_until([&] { return std::scoped_lock(lock), arrived == number + 1; });
  }
  void await_waiting(unsigned n) {
    check::wait_until([&] { return std::scoped_lock(lock), waiting == n; });
  }
  std::vector<unsigned> after(unsigned n) {
    check::wait_until([&] { return std::scoped_lock(lock), notified.size() >= n; });
    return std::scoped_lock(lock), notified;
  }
  ~Parade() {
    for (auto& thread : threads) thread.join();
  }
};

template <class C>
void longest_first() {
  Parade<C> parade;
  CHECK(parade.condition.notify_one() == 0);
  for (unsigned i = 0; i < 6; ++i) parade.enter();
  CHECK(parade.condition.notify_one() == 1);
  CHECK(parade.after(1) == std::vector{0u});
  CHECK(parade.condition.notify_one() == 1);
  CHECK(parade.after(2) == std::vector{0u, 1u});
  CHECK(parade.condition.notify(2) == 2);
  CHECK(parade.after(4).size() == 4);
  CHECK(parade.notified[2] + parade.notified[3] == 5);
  CHECK(parade.condition.notify(0) == 0);
  CHECK(parade.condition.notify_all() == 2);
  CHECK(parade.after(6).size() == 6);
  CHECK(parade.condition.notify_all() == 0);
}

// A waiter in the middle of the line gives up, at its deadline or because it is interrupted.
template <class Waiting, class C>
void giving_up() {
  {
    Parade<C> parade;
    parade.enter();
    parade.enter(deadline_in(20ms));
    parade.enter();
    parade.await_waiting(2);
    CHECK(parade.condition.notify_one() == 1);
    CHECK(parade.after(1) == std::vector{0u});
    CHECK(parade.condition.notify(2) == 1);
    CHECK(parade.after(2) == std::vector{0u, 2u});
  }
  using P = Native<Waiting>;
  Interrupt<P> first{}, second{};
  Parade<C> parade;
  parade.enter(Interruptible<P>{first});
  parade.enter(Interruptible<P>{second});
  first.raise();
  parade.await_waiting(1);
  CHECK(parade.condition.notify_one() == 1);
  CHECK(parade.after(1) == std::vector{1u});
  CHECK(!parade.condition.waited_for());
}

template <class C>
void timeouts() {
  C condition;
  mutex<"twa"> mutex;
  std::unique_lock held(mutex);
  condition.notify_all();  // lost, because no thread waits
  const auto began = std::chrono::steady_clock::now();
  CHECK(!condition.wait_for(held, 10ms));
  CHECK(std::chrono::steady_clock::now() - began >= 10ms);
  CHECK(!condition.wait_for(held, -1s) && !condition.wait_for(held, 0s));
  CHECK(!condition.wait_until(held, std::chrono::system_clock::now() + 1ms));
  CHECK(!condition.wait_until(held, Deadline{0}));
  CHECK(!condition.wait_for(held, 1ms, [] { return false; }));
  CHECK(condition.wait_for(held, 1ms, [] { return true; }));
  CHECK(!condition.waited_for());
  std::thread([&] { CHECK(!mutex.try_lock()); }).join();  // this thread holds it again
}

// Waiters give up at any moment, among many notifications: as many are received as were given.
template <class C>
void none_lost(unsigned rounds) {
  C condition;
  lock<"ticket"> lock{};
  std::atomic<std::uint64_t> given{0}, taken{0};
  std::atomic<unsigned> busy{3};
  check::together(4, [&](unsigned t) {
    if (t == 3) {
      while (busy != 0) {
        given += condition.notify(1 + given % 2);
        std::this_thread::yield();
      }
      return;
    }
    for (unsigned i = 0; i < rounds; ++i) {
      auto episode = lock.acquire();
      taken += condition.wait_until(lock, episode, deadline_in(std::chrono::microseconds(i * 7 % 60)));
      lock.release(episode);
    }
    --busy;
  });
  CHECK(given == taken);
  CHECK(!condition.waited_for() && !lock.locked());
}

// A barrier: the last thread to arrive lets the others continue.
template <class M, class C>
void storm(unsigned threads, unsigned rounds) {
  M mutex;
  C condition;
  unsigned here = 0, round = 0;
  check::together(threads, [&](unsigned) {
    for (unsigned i = 0; i < rounds; ++i) {
      std::unique_lock held(mutex);
      if (++here == threads) {
        here = 0;
        ++round;
        CHECK(condition.notify_all() == threads - 1);
      } else {
        condition.wait(held, [&] { return round != i; });
        CHECK(round == i + 1);
      }
    }
  });
}

// The condition is destroyed as soon as every waiter is notified, although none has noticed it yet.
template <class C>
void destroyed_at_once(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    auto condition = std::make_unique<C>();
    mutex<"ticket"> mutex;
    unsigned waiting = 0;
    check::together(4, [&](unsigned t) {
      std::unique_lock held(mutex);
      if (t != 0) {
        ++waiting;
        condition->wait(held);
        return;
      }
      while (waiting != 3) {
        held.unlock();
        std::this_thread::yield();
        held.lock();
      }
      CHECK(condition->notify_all() == 3);
      condition.reset();
    });
  }
}

// A front end may throw when a wait asks it whether to continue.
struct Throwing {
  static constexpr std::uint64_t deadline() { return never; }
  static bool interrupted() { throw std::runtime_error("enough"); }
};

template <class C>
void exceptions() {
  C condition;
  lock<"mcs"> lock{};
  auto episode = lock.acquire();
  bool thrown = false;
  try {
    condition.wait_until(lock, episode, Throwing{});
  } catch (const std::runtime_error&) { thrown = true; }
  CHECK(thrown && lock.locked() && !condition.waited_for());
  lock.release(episode);
}

template <class Waiting>
void test(unsigned rounds) {
  using C = ConditionWith<Waiting>;
  check::step(Waiting::name, "pairs");
  producers_and_consumers<mutex<"ticket", Waiting>, C>(1, rounds);
  producers_and_consumers<mutex<"twa", Waiting>, C>(2, rounds);
  producers_and_consumers<mutex<"mcs", Waiting>, C>(2, rounds);
  producers_and_consumers<mutex<"hapax", Waiting>, C>(2, rounds);
  producers_and_consumers<std::mutex, C>(3, rounds);
  check::step(Waiting::name, "order"), longest_first<C>();
  check::step(Waiting::name, "giving up"), giving_up<Waiting, C>();
  check::step(Waiting::name, "timeouts"), timeouts<C>();
  check::step(Waiting::name, "none lost"), none_lost<C>(rounds);
  check::step(Waiting::name, "storm"), storm<mutex<"hapax-vw", Waiting>, C>(5, rounds / 2 + 1);
  check::step(Waiting::name, "destroyed at once"), destroyed_at_once<C>(rounds / 20 + 1);
  check::step(Waiting::name, "exceptions"), exceptions<C>();
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  const auto rounds = check::rounds(2000);
  test<Yield>(rounds);
  test<Monitor>(rounds / 4 + 1);
  test<Park>(rounds);
  test<SpinThenPark>(rounds);
  test<BasicPark<PortableParking>>(rounds);
  return check::result();
}
