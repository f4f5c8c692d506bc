// SPDX-License-Identifier: Apache-2.0
// Until: how long a wait may last. The caller passes it to a timed acquire, which passes it on to every wait.
//
//   Forever         without end
//   Deadline        until a point in time of the platform's clock, P::now(), in nanoseconds; `never` is infinitely far
//   Interruptible   until then, or until another thread raises its Interrupt (interrupt.hpp)
//
// If the deadline has already passed, the waiter looks once and gives up.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace fairlock {
inline namespace v0 {

inline constexpr std::uint64_t never = ~std::uint64_t{0};

// When a wait ends, and whether to end it now:
//
//   deadline()      the latest time at which the wait ends
//   interrupted()   whether the wait ends now. Called before every sleep, after every wake-up and between yields, so a
//                   front end may do its own work here, such as handling a signal. It must not throw: store the
//                   exception, and throw it after the wait
template <class U>
concept Until = requires(const U& until) {
  { until.deadline() } -> std::same_as<std::uint64_t>;
  { until.interrupted() } -> std::same_as<bool>;
};

// Wakes the thread that is parked on the word at this address. The word itself may be gone.
using Unpark = void (*)(const void*);

// What a front end may learn about a wait, or decide during it. Nothing by default: a front end that needs a hook
// derives its observer from this struct, hides the member, and returns the observer from `observer()` of its Until.
//
//   before_park(word, unpark)   the thread is about to sleep on `word`, and unpark(word) wakes it
//   after_park()                the thread is awake again
//   next_check()                the latest time at which a sleeping thread must wake up and call interrupted() again,
//                               even if no other thread wakes it. Called before every sleep. Unless the wait is
//                               interrupted, the thread then sleeps on, and keeps its place in line. `never` if every
//                               interruption wakes the thread
//   may_yield()                 whether the thread may yield between looks (waiting/yield_before_park.hpp); false if
//                               only a sleep notices the signal that is to end the wait
//   claims_permit(claims)       whether a line of permits counts the thread among those that have a permit or will get
//                               one. If such a thread vanishes in a fork (platform/fork.hpp), its permit has no owner
struct WaitObserver {
  static constexpr void before_park(const void*, Unpark) {}
  static constexpr void after_park() {}
  static constexpr std::uint64_t next_check() { return never; }
  static constexpr bool may_yield() { return true; }
  static constexpr void claims_permit(bool) {}
};

template <Until U>
constexpr decltype(auto) observer_of(const U& until) {
  if constexpr (requires { until.observer(); }) {
    static_assert(std::derived_from<std::remove_cvref_t<decltype(until.observer())>, WaitObserver>,
                  "derive the observer from WaitObserver, which has a default for every hook");
    return until.observer();
  } else {
    return WaitObserver{};
  }
}

struct Forever {
  static constexpr std::uint64_t deadline() { return never; }
  static constexpr bool interrupted() { return false; }
};

struct Deadline {
  std::uint64_t at;
  std::uint64_t deadline() const { return at; }
  static constexpr bool interrupted() { return false; }
};

// This long from now, by the steady clock. If the time is negative, the deadline has passed. If it is too long to
// count, the deadline is `never`.
template <class Rep, class Period>
Deadline deadline_in(const std::chrono::duration<Rep, Period>& time) {
  using Nanoseconds = std::chrono::duration<long double, std::nano>;
  const auto now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  const auto at = static_cast<long double>(now) + std::chrono::duration_cast<Nanoseconds>(time).count();
  if (!(at > 0)) return {0};
  if (at >= 9.2e18L) return {never};
  return {static_cast<std::uint64_t>(at)};
}

// The same for a point in time of any clock, by what that clock shows now.
template <class Clock, class Duration>
Deadline deadline_at(const std::chrono::time_point<Clock, Duration>& when) {
  const auto now = Clock::now();
  if (when <= now) return {0};
  // The difference of the extremes overflows integers.
  using Nanoseconds = std::chrono::duration<long double, std::nano>;
  return deadline_in(Nanoseconds(when.time_since_epoch()) - Nanoseconds(now.time_since_epoch()));
}

}  // namespace v0
}  // namespace fairlock
