// SPDX-License-Identifier: Apache-2.0
// Episodes, and the ways to hold one.
//
// An episode is one acquire-release pair and the value that carries it from one to the other. It lives where its user
// keeps it: in the lock body (Mutex, which makes a C++ Lockable of any lock), or on the stack (Guard and with()).
// Passing it through the body costs a store to a line that others want; a lock without context has an empty episode.
//
// Acquiring a lock that allocates (Properties::allocates) may throw std::bad_alloc. The lock is then
// unchanged, and the thread is not in line. Releasing a lock neither allocates nor throws.
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

// The form of a lock whose waiters may leave early, where that is another one.
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

// In debug builds a misused lock stops with its name. In release builds nothing is looked at: releasing a lock that is
// not held advances its line all the same, so that later two threads may be inside or none ever is; destroying a lock
// that is held or waited for leaves those threads with memory that is gone.
template <EpisodicLock L, bool Debug>
void expect([[maybe_unused]] bool good, [[maybe_unused]] const char* what) {
  if constexpr (Debug) {
    if (good) return;
    std::fprintf(stderr, "fairlock: lock '%s' %s\n", L::properties.name, what);
    std::abort();
  }
}

namespace detail {

// The destructor that complains exists in debug builds only, so that a Mutex stays trivial in release.
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

// Whether it complains is part of its type, so that object files built with and without NDEBUG do not mix two of them.
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

  // With any end of waiting (until.hpp).
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
    // The copy: once release has admitted the next owner, the one in the body is theirs.
    const auto episode = body_.episode;
    body_.lock.release(episode);
  }

  bool locked() const { return body_.lock.locked(); }

  // The lock itself, for what only it has: knobs, say.
  L& inner() { return body_.lock; }

  // Of a lock that counts (statistics.hpp).
  auto statistics() const
    requires requires(const L& lock) { lock.statistics(); }
  {
    return body_.lock.statistics();
  }

 private:
  // The owner asks its episode where that knows: others may be leaving the line that locked() would look at.
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

// Holds a lock for a scope; the episode is on the stack.
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
