// SPDX-License-Identifier: Apache-2.0
// All of fairlock for a C++ program: `fairlock::mutex<"twa">` is a Lockable, for std::scoped_lock and its kin.
#pragma once

#include <chrono>

#include <fairlock/catalogue.hpp>
#include <fairlock/condition.hpp>
#include <fairlock/hapax_seqlock.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/statistics.hpp>
#include <fairlock/waiting/chain.hpp>
#include <fairlock/waiting/policies.hpp>

namespace fairlock {
inline namespace v0 {

// spin-then-park, unless the lock's waiters cannot sleep: then yield.
struct DefaultWaiting {};

namespace detail {
template <FixedString Name, class Waiting>
struct Choice {
  static constexpr bool parkable = lock_named<Native<Spin>, Name>::properties.parkable;
  static constexpr bool by_default = std::is_same_v<Waiting, DefaultWaiting>;
  using Chosen =
      std::conditional_t<!by_default, Waiting, std::conditional_t<parkable, DefaultPolicy, DefaultPolicyAwake>>;
  static_assert(parkable || !Chosen::sleeps, "the waiters of this lock cannot sleep: choose Spin, Yield or Monitor");
  using Lock = lock_named<Native<Chosen>, Name>;
  using CountedLock = Counted<CountingNative<Chosen>, lock_named<CountingNative<Chosen>, Name>>;
};
template <class Waiting>
using policy = std::conditional_t<std::is_same_v<Waiting, DefaultWaiting>, DefaultPolicy, Waiting>;

template <EpisodicLock L>
struct Leavable {
  static_assert(TimedLock<timed_form<L>>,
                "the waiters of this lock cannot leave: `fairlock list` says of which they can");
  using type = timed_form<L>;
};
}  // namespace detail

// A semaphore with all names of std::counting_semaphore.
template <CountingSemaphore S>
struct StandardSemaphore : S {
  using S::S;

  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& time) {
    return this->acquire_until(deadline_in(time));
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
    return this->acquire_until(deadline_at(when));
  }
};

// A lock of the catalogue by name, with a waiting policy; the episode is the caller's to keep (Guard, with).
template <FixedString Name, class Waiting = DefaultWaiting>
using lock = typename detail::Choice<Name, Waiting>::Lock;

// The same as a C++ Lockable: the episode is kept in the lock body.
template <FixedString Name, class Waiting = DefaultWaiting>
using mutex = Mutex<lock<Name, Waiting>>;

// And as a TimedLockable, for the locks that can be left: `fairlock list` says which.
template <FixedString Name, class Waiting = DefaultWaiting>
using timed_mutex = Mutex<typename detail::Leavable<lock<Name, Waiting>>::type>;

// A timed_mutex (where there is one) that keeps statistics() of itself; not On: the mutex and nothing else.
template <FixedString Name, class Waiting = DefaultWaiting, bool On = true>
using counted_mutex =
    Mutex<timed_form<std::conditional_t<On, typename detail::Choice<Name, Waiting>::CountedLock, lock<Name, Waiting>>>>;

// A counting semaphore of the catalogue by name.
template <FixedString Name, class Waiting = DefaultWaiting>
using semaphore = StandardSemaphore<semaphore_named<Native<detail::policy<Waiting>>, Name>>;

// Threads wait for a condition under any of these mutexes; the longest waiter is notified first.
template <class Waiting = DefaultWaiting>
using basic_condition = Condition<Native<detail::policy<Waiting>>>;
using condition = basic_condition<>;

using interrupt = Interrupt<Native<>>;
using interruptible = Interruptible<Native<>>;

// Waits, asleep, until condition() holds; false if `until` came first. Whoever makes it hold calls signal(key)
// afterwards. The key is any address that both agree on, usually that of what the condition reads; the condition must
// be cheap, must not wait, and may be evaluated by the thread that signals.
template <class C, Until U = Forever>
bool wait_until(const void* key, const C& condition, const U& until = {}) {
  return Chains<Native<>>::wait_until(key, Native<>::key(key), condition, until);
}

inline void signal(const void* key) {
  Native<>::fence(order::seq_cst);
  Chains<Native<>>::signal(Native<>::key(key));
}

}  // namespace v0
}  // namespace fairlock
