// SPDX-License-Identifier: Apache-2.0
// All of fairlock for a C++ program. `fairlock::mutex<"twa">` is a Lockable, for std::scoped_lock and the like.
//
// The public interface is what docs/reference/cpp.md names. The folders line/, waiting/ and platform/ are internal: a
// new lock, waiting policy or platform builds on them, and must be adapted when they change. Only fairlock itself uses
// the folder detail/ and the namespace fairlock::detail. Everything else may change in any release.
#pragma once

#include <chrono>

#include <fairlock/catalogue.hpp>
#include <fairlock/condition.hpp>
#include <fairlock/hapax_seqlock.hpp>
#include <fairlock/interrupt.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/statistics.hpp>
#include <fairlock/waiting/chain.hpp>
#include <fairlock/waiting/policies.hpp>

namespace fairlock {
inline namespace v0 {

// SpinThenPark, or Yield if the lock's waiters cannot sleep.
struct DefaultWaiting {};

namespace detail {
template <FixedString Name, class Waiting>
struct Choice {
  static constexpr bool parkable = lock_named<Native<Spin>, Name>::properties.parkable;
  static constexpr bool by_default = std::is_same_v<Waiting, DefaultWaiting>;
  using ChosenPolicy =
      std::conditional_t<!by_default, Waiting, std::conditional_t<parkable, DefaultPolicy, DefaultPolicyAwake>>;
  static_assert(parkable || !ChosenPolicy::sleeps,
                "the waiters of this lock cannot sleep: choose Spin, Yield or Monitor");
  using Lock = lock_named<Native<ChosenPolicy>, Name>;
  using CountedLock = Counted<CountingNative<ChosenPolicy>, lock_named<CountingNative<ChosenPolicy>, Name>>;
};
template <class Waiting>
using policy = std::conditional_t<std::is_same_v<Waiting, DefaultWaiting>, DefaultPolicy, Waiting>;

template <EpisodicLock L>
struct Leavable {
  static_assert(TimedLock<timed_form<L>>,
                "the waiters of this lock cannot leave: `fairlock list` shows the locks whose waiters can");
  using type = timed_form<L>;
};
}  // namespace detail

// A semaphore with all the members of std::counting_semaphore.
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

// A lock of the catalogue by name, with a waiting policy. The caller keeps the episode (Guard, with).
template <FixedString Name, class Waiting = DefaultWaiting>
using lock = typename detail::Choice<Name, Waiting>::Lock;

// The same lock as a C++ Lockable, which stores the episode in its body.
template <FixedString Name, class Waiting = DefaultWaiting>
using mutex = Mutex<lock<Name, Waiting>>;

// The same lock as a TimedLockable, if its waiters can leave (`fairlock list` shows the locks whose waiters can).
template <FixedString Name, class Waiting = DefaultWaiting>
using timed_mutex = Mutex<typename detail::Leavable<lock<Name, Waiting>>::type>;

// A mutex with statistics(), timed if the lock's waiters can leave. If On is false, a plain mutex.
template <FixedString Name, class Waiting = DefaultWaiting, bool On = true>
using counted_mutex =
    Mutex<timed_form<std::conditional_t<On, typename detail::Choice<Name, Waiting>::CountedLock, lock<Name, Waiting>>>>;

// A counting semaphore of the catalogue by name.
template <FixedString Name, class Waiting = DefaultWaiting>
using semaphore = StandardSemaphore<semaphore_named<Native<detail::policy<Waiting>>, Name>>;

// A condition variable for any of these mutexes. It notifies the oldest waiter first.
template <class Waiting = DefaultWaiting>
using basic_condition = Condition<Native<detail::policy<Waiting>>>;
using condition = basic_condition<>;

using interrupt = Interrupt<Native<>>;
using interruptible = Interruptible<Native<>>;

// Sleep until condition() holds. False: `until` came first. A thread that makes the condition true then calls
// signal(key). The key is any address on which both threads agree, usually that of a variable that the condition reads.
// The condition must be cheap and must not wait. The thread that signals may evaluate it.
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
