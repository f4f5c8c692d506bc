// SPDX-License-Identifier: Apache-2.0
// Episodes, and the ways to hold one.
//
// An episode is one acquire and its release, and the value that passes from one to the other. The caller decides where
// it lives: in the lock body (Mutex, which makes any lock a C++ Lockable), or on the stack (Guard and with()). Keeping
// it in the body costs a store to a cache line that other threads want. A lock without context has an empty episode.
//
// Acquiring a lock that allocates (Properties::allocates) may throw std::bad_alloc. The lock is then unchanged, and the
// thread is not in line. Releasing a lock neither allocates nor throws.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include <fairlock/properties.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

struct NoContext {};

template <class L>
concept EpisodicLock = requires(L lock, typename L::Episode episode) {
  { lock.acquire() } -> std::same_as<typename L::Episode>;
  lock.release(episode);
  { lock.locked() } -> std::same_as<bool>;
  { L::properties } -> std::convertible_to<Properties>;
};

template <class L>
concept TryLock = EpisodicLock<L> && requires(L lock) {
  { lock.try_acquire() } -> std::same_as<std::optional<typename L::Episode>>;
};

template <class L>
concept TimedLock = EpisodicLock<L> && requires(L lock, Deadline until) {
  { lock.acquire_until(until) } -> std::same_as<std::optional<typename L::Episode>>;
};

// The form of a lock whose waiters can leave, if that is a different type.
namespace detail {
template <class L>
struct TimedForm {
  using type = L;
};
template <class L>
  requires requires { typename L::Timed; }
struct TimedForm<L> {
  using type = typename L::Timed;
};
}  // namespace detail
template <EpisodicLock L>
using timed_form = typename detail::TimedForm<L>::type;

#ifdef NDEBUG
inline constexpr bool debug = false;
#else
inline constexpr bool debug = true;
#endif

// In a debug build, misuse of a lock ends the program with the lock's name. A release build checks nothing. In that
// build, releasing a lock that is not held still advances its line: afterwards, two threads may hold the lock at once,
// or no thread can ever acquire it. Destroying a lock that is held or has waiters leaves those threads with memory that
// is gone.
template <EpisodicLock L, bool Debug>
void expect([[maybe_unused]] bool condition, [[maybe_unused]] const char* what) {
  if constexpr (Debug) {
    if (condition) return;
    std::fprintf(stderr, "fairlock: lock '%s' %s\n", L::properties.name, what);
    std::abort();
  }
}

namespace detail {

// Only a debug build has the destructor that checks, so that a Mutex is trivial in a release build.
template <EpisodicLock L, bool Debug>
struct Body {
  L lock;
  [[no_unique_address]] typename L::Episode episode;
};

template <EpisodicLock L>
struct Body<L, true> {
  L lock{};
  [[no_unique_address]] typename L::Episode episode{};
  ~Body() { expect<L, true>(!lock.locked(), "was destroyed while held"); }
};

}  // namespace detail

// Whether a Mutex checks is part of its type, so that object files built with and without NDEBUG do not mix the two.
template <EpisodicLock L, bool Debug = debug>
class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() { body_.episode = body_.lock.acquire(); }

  bool try_lock()
    requires TryLock<L>
  {
    return keep(body_.lock.try_acquire());
  }

  // With any Until (until.hpp).
  template <Until U>
  bool lock_until(const U& until)
    requires TimedLock<L>
  {
    return keep(body_.lock.acquire_until(until));
  }
  bool try_lock_until(std::uint64_t deadline)
    requires TimedLock<L>
  {
    return lock_until(Deadline{deadline});
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when)
    requires TimedLock<L>
  {
    return keep(body_.lock.acquire_until(deadline_at(when)));
  }
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& time)
    requires TimedLock<L>
  {
    return keep(body_.lock.acquire_until(deadline_in(time)));
  }

  void unlock() {
    expect<L, Debug>(held(), "was released while not held");
    // A copy, because the episode in the body belongs to the next owner as soon as release has admitted it.
    const auto episode = body_.episode;
    body_.lock.release(episode);
  }

  bool locked() const { return body_.lock.locked(); }

  // The lock, for members that a Mutex does not have, such as a capacitor's knobs.
  L& inner() { return body_.lock; }

  // For a lock that counts (statistics.hpp).
  auto statistics() const
    requires requires(const L& lock) { lock.statistics(); }
  {
    return body_.lock.statistics();
  }

 private:
  // If the episode knows the answer, ask it rather than locked(), which looks at a line that other threads may be
  // leaving.
  bool held() const {
    if constexpr (requires { body_.episode.under_way(); }) return body_.episode.under_way();
    else return body_.lock.locked();
  }

  bool keep(const std::optional<typename L::Episode>& episode) {
    if (episode) body_.episode = *episode;
    return episode.has_value();
  }

  detail::Body<L, Debug> body_{};
};

// Holds a lock for a scope. The episode is on the stack.
template <EpisodicLock L>
class [[nodiscard]] Guard {
 public:
  explicit Guard(L& lock) : lock_(lock), episode_(lock.acquire()) {}
  ~Guard() { lock_.release(episode_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  L& lock_;
  [[no_unique_address]] typename L::Episode episode_;
};

template <EpisodicLock L, std::invocable F>
decltype(auto) with(L& lock, F&& function) {
  Guard guard(lock);
  return std::forward<F>(function)();
}

}  // namespace v0
}  // namespace fairlock
