// SPDX-License-Identifier: Apache-2.0
// The fair lock and the fair semaphore: threads wait, try and leave, under every waiting policy. No thread starves. A
// woken waiter that does not run delays the others only while the lock is saturated.
#include <fairlock/fairlock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "support/check.hpp"

using namespace fairlock;

namespace {

static_assert(sizeof(lock<"fair">) == 16 && std::is_trivially_destructible_v<lock<"fair">>);
static_assert(TimedLock<lock<"fair">> && TryLock<lock<"fair">>);

Deadline in_microseconds(std::uint64_t n) { return {steady_now() + n * 1000}; }

// Some threads wait for ever, some leave soon, and some only try. The counter is not atomic: the lock protects it.
template <class P>
void mixed(unsigned threads, unsigned rounds) {
  FairLock<P, FairOptions{.quota = 3, .patience = 20'000}> lock{};
  std::uint64_t entered = 0;
  std::atomic<std::uint64_t> expected{0};
  check::together(threads, [&](unsigned t) {
    std::uint64_t mine = 0;
    for (unsigned i = 0; i < rounds; ++i) {
      const bool in = t % 4 == 0   ? lock.try_acquire().has_value()
                      : t % 4 == 1 ? lock.acquire_until(in_microseconds(i % 50)).has_value()
                                   : (lock.acquire(), true);
      if (!in) continue;
      ++entered;
      ++mine;
      lock.release({});
    }
    expected += mine;
  });
  CHECK(entered == expected);
  CHECK(!lock.locked());
  CHECK(lock.try_acquire().has_value());
  CHECK(!lock.acquire_until(Deadline{0}));
  CHECK(!lock.acquire_until(in_microseconds(100)));
  lock.release({});
}

// Several permits are released at once, and some waiters leave.
template <class P>
void bunches(unsigned threads, unsigned rounds) {
  FairSemaphore<P, FairSemaphoreOptions{.quota = 3, .patience = 20'000}> semaphore(2);
  std::atomic<int> inside{0};
  std::atomic<bool> too_many{false};
  check::together(threads, [&](unsigned t) {
    for (unsigned i = 0; i < rounds; ++i) {
      if (t % 2 == 0) semaphore.acquire();
      else if (!semaphore.acquire_until(in_microseconds(i % 50))) continue;
      if (inside.fetch_add(1) >= 2) too_many = true;
      inside.fetch_sub(1);
      if (i % 7 == 0 && semaphore.try_acquire()) semaphore.release(2);
      else semaphore.release();
    }
  });
  CHECK(!too_many);
  CHECK(semaphore.value() == 2);
}

// The last thread to leave destroys the lock at once.
template <class P>
void destroy(unsigned rounds) {
  struct Shared {
    FairLock<P, FairOptions{.quota = 1, .patience = 0}> lock{};
    unsigned gone = 0;
  };
  for (unsigned i = 0; i < rounds; ++i) {
    auto* const shared = new Shared;
    check::together(4, [&](unsigned t) {
      if (t == 0 && !shared->lock.acquire_until(in_microseconds(i % 20))) shared->lock.acquire();
      else if (t != 0) shared->lock.acquire();
      const bool last = ++shared->gone == 4;
      shared->lock.release({});
      if (last) delete shared;
    });
  }
}

// A thread that comes back again and again does not keep the others out.
template <class P>
void no_thread_starves() {
  FairLock<P> lock{};
  std::atomic<unsigned> served{0};
  check::together(3, [&](unsigned t) {
    if (t == 0) {
      while (served.load() < 2) {
        lock.acquire();
        lock.release({});
      }
    } else {
      for (int i = 0; i < 20; ++i) {
        lock.acquire();
        lock.release({});
      }
      ++served;
    }
  });
}

// A late waiter stays in its wait after it is woken, until `released`, as if it had no processor.
struct LateWaiters : Native<Park> {
  static inline thread_local bool is_late = false;
  static inline std::atomic<unsigned> woken{0};
  static inline std::atomic<bool> released{false};

  template <class A, Until U>
  static bool watch(A& gate, const U& until) {
    const bool woke = Native<Park>::watch(gate, until);
    if (is_late && woke) {
      ++woken;
      released.wait(false);
    }
    return woke;
  }
  template <class F>
  static bool guess(const F&) {
    return false;
  }
};

// The first waiter is woken, but does not run. The owner comes back as a newcomer, and each time releases the lock. The
// second waiter may enter meanwhile if, and only if, the lock is not saturated.
template <bool Adapts>
void late_head() {
  check::step("the first waiter is late", Adapts ? "and the lock adapts" : "and the lock takes turns");
  using P = LateWaiters;
  P::woken = 0;
  P::released = false;
  FairLock<P, FairOptions{.quota = 8000, .patience = 500'000, .adapts = Adapts}> lock{};
  const auto first_in_line = [&] {
    std::uint64_t head = 0;
    lock.fields([&](const char* name, const auto& word) {
      head = name == std::string("head") ? word.load(order::relaxed) : head;
    });
    return head;
  };
  lock.acquire();
  std::atomic<bool> first_entered{false}, second_entered{false};
  std::thread first([&] {
    P::is_late = true;
    lock.acquire();
    first_entered = true;
    lock.release({});
  });
  while (first_in_line() == 0) std::this_thread::yield();
  std::thread second([&] {
    lock.acquire();
    second_entered = true;
    lock.release({});
  });
  // If the second waiter has not arrived by now, it arrives during the loop.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  lock.release({});
  while (P::woken == 0) std::this_thread::yield();
  for (unsigned i = 0; i < (Adapts ? ~0u : 20u) && !second_entered; ++i) {
    if (lock.try_acquire()) lock.release({});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(!first_entered);
  CHECK(second_entered == Adapts);
  P::released = true;
  P::released.notify_all();
  first.join();
  second.join();
  CHECK(!lock.locked());
}

template <class W>
void test() {
  using P = Native<W>;
  const bool sleeps = W::sleeps;
  check::step("mixed", W::name);
  mixed<P>(sleeps ? 8 : 4, check::rounds(sleeps ? 5000 : 1000));
  check::step("several permits at once", W::name);
  bunches<P>(sleeps ? 8 : 4, check::rounds(sleeps ? 5000 : 1000));
  check::step("destroy", W::name);
  destroy<P>(check::rounds(sleeps ? 500 : 100));
  check::step("no thread starves", W::name);
  no_thread_starves<P>();
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  late_head<true>();
  late_head<false>();
  test<SpinThenPark>();
  test<Park>();
  test<BasicPark<PortableParking>>();
  test<Yield>();
  return check::result();
}
