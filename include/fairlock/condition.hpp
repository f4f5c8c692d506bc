// SPDX-License-Identifier: Apache-2.0
// Condition: a thread releases a lock, waits until another thread notifies it, and acquires the lock again. A condition
// works with any lock of the catalogue, and with any type that has lock() and unlock().
//
//   field   holds                                      written by
//   line_   the waiters, the oldest first; 16 bytes    waiters and notifiers (line/notify.hpp)
//
// FIFO: a notification goes to the oldest waiter, never to a thread that begins to wait later. If no thread waits, it
// is lost. There are no spurious wake-ups. But another thread may have held the lock in between, so the waiter must
// check again whether it may go on.
//
// All-zero memory is a condition without waiters. The condition may be destroyed as soon as every waiter has been
// notified or has returned because it gave up: a notified waiter needs only the lock.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include <fairlock/episode.hpp>
#include <fairlock/line/notify.hpp>

namespace fairlock {
inline namespace v0 {

template <class M>
concept BasicLockable = requires(M& mutex) {
  mutex.lock();
  mutex.unlock();
};

template <Platform P>
class Condition {
 public:
  constexpr Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // The caller holds the lock, and holds it again afterwards. False: `until` came before a notification.
  //
  // If the lock allocates, acquiring it again may throw std::bad_alloc, and the caller then does not hold it. This
  // happens only to a thread without a spare element, such as the first user of a `clh` lock: the element of its first
  // episode stays with the lock.
  template <EpisodicLock L, Until U>
  bool wait_until(L& lock, typename L::Episode& episode, const U& until) {
    return wait_between([&] { lock.release(episode); }, [&] { episode = lock.acquire(); }, until);
  }
  template <BasicLockable M, Until U>
  bool wait_until(M& mutex, const U& until) {
    return wait_between([&] { mutex.unlock(); }, [&] { mutex.lock(); }, until);
  }

  template <EpisodicLock L>
  void wait(L& lock, typename L::Episode& episode) {
    wait_until(lock, episode, Forever{});
  }
  template <BasicLockable M>
  void wait(M& mutex) {
    wait_until(mutex, Forever{});
  }

  // Wait until ready() is true. False: `until` came first.
  template <BasicLockable M, Until U, std::predicate F>
  bool wait_until(M& mutex, const U& until, F ready) {
    while (!ready())
      if (!wait_until(mutex, until)) return ready();
    return true;
  }
  template <BasicLockable M, std::predicate F>
  void wait(M& mutex, F ready) {
    wait_until(mutex, Forever{}, ready);
  }

  template <BasicLockable M, class Clock, class Duration, class... F>
  bool wait_until(M& mutex, const std::chrono::time_point<Clock, Duration>& when, F... ready) {
    return wait_until(mutex, deadline_at(when), ready...);
  }
  template <BasicLockable M, class Rep, class Period, class... F>
  bool wait_for(M& mutex, const std::chrono::duration<Rep, Period>& time, F... ready) {
    return wait_until(mutex, deadline_in(time), ready...);
  }

  // The caller need not hold the lock. Returns how many waiters were notified.
  std::uint64_t notify_one() { return notify(1); }
  std::uint64_t notify_all() { return notify(~std::uint64_t{0}); }

  std::uint64_t notify(std::uint64_t most) { return line_.notify(most); }

  bool waited_for() const { return !line_.empty(); }

  template <class V>
  void fields(V&& visit) const {
    line_.fields(visit);
  }

 private:
  template <class F>
  struct Finally {
    const F& function;
    ~Finally() noexcept(false) { function(); }
  };

  template <class Release, class Acquire, Until U>
  bool wait_between(const Release& release, const Acquire& acquire, const U& until) {
    const Finally<Acquire> reacquire{acquire};
    // Enter the line before the lock is released, so that the next owner finds us there.
    typename WaiterLine<P>::Place place(line_);
    release();
    return place.wait(until);
  }

  WaiterLine<P> line_;
};

}  // namespace v0
}  // namespace fairlock
