// SPDX-License-Identifier: Apache-2.0
// A wait as POSIX has it: until a point in time of one of two clocks, ended by a signal or not, and by cancellation or
// not.
//
// Cancellation: a thread that sleeps can only be reached while its cancellation is asynchronous, so it is that for the
// one system call. What glibc then begins to unwind is caught right here, where nothing of ours is on the stack below;
// the algorithm learns that it is interrupted, leaves its line as at a timeout, and whoever called lets the unwinding
// go on (`end_if_cancelled`) when all is in order: the mutex taken again, a permit given back. A handler that ends the
// thread during the wait is caught like that too.
//
// A thread that chose asynchronous cancellation could be ended anywhere, with an element of its stack in a line. So for
// the time of a wait its cancellation is deferred, but for that system call.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include <fairlock/until.hpp>

#include "glibc.hpp"

#ifdef __EXCEPTIONS
#error "build this without exceptions: with them, pthread.h hides the functions that catch a cancellation"
#endif

namespace fairlock::preload {

inline constexpr long second = 1'000'000'000;

inline bool valid(const timespec& time) { return time.tv_nsec >= 0 && time.tv_nsec < second; }
inline bool known(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

inline std::uint64_t nanoseconds(const timespec& time) {
  if (time.tv_sec < 0) return 0;
  if (static_cast<std::uint64_t>(time.tv_sec) > INT64_MAX / second - 1) return INT64_MAX;
  return static_cast<std::uint64_t>(time.tv_sec) * second + static_cast<std::uint64_t>(time.tv_nsec);
}

inline std::uint64_t now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return nanoseconds(time);
}

// Sleeps on the word while it has that value; what the kernel says of it. Leaves errno alone, as all of pthread does.
inline int sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value, clockid_t clock, const timespec* at) {
  const int before = errno;
  const int how = FUTEX_WAIT_BITSET_PRIVATE | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
  const long woken = syscall(SYS_futex, &word, how, value, at, nullptr, FUTEX_BITSET_MATCH_ANY);
  const int why = woken == 0 ? 0 : errno;
  errno = before;
  return why;
}

// Whether this thread, by pthread_setcanceltype, may be cancelled anywhere.
inline constinit thread_local bool asynchronous = false;

class Deferred {
 public:
  Deferred() {
    if (asynchronous) [[unlikely]]
      glibc::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before_);
  }
  ~Deferred() {
    // Which ends the thread, if that is due.
    if (asynchronous) [[unlikely]]
      glibc::pthread_setcanceltype(before_, nullptr);
  }
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

 private:
  int before_;
};

class Wait : public WaitObserver {
 public:
  struct How {
    clockid_t clock = CLOCK_MONOTONIC;
    const timespec* at = nullptr;  // null: for ever
    bool cancellable = false;      // a cancellation point
    bool by_signals = false;       // a handler that ran ends it
    bool sleeps = true;            // the policy does: otherwise nobody but us looks for a cancellation
  };

  explicit Wait(const How& how) : how_(how) {}

  std::uint64_t deadline() const {
    if (how_.at == nullptr) return never;
    const auto at = nanoseconds(*how_.at);
    if (how_.clock == CLOCK_MONOTONIC) return at;
    const auto there = now(how_.clock);  // and not once for all: that clock may be set
    return at <= there ? 0 : now(CLOCK_MONOTONIC) + (at - there);
  }

  bool interrupted() const {
    if (!how_.sleeps && how_.cancellable && !cancelled_) catch_cancellation([] { pthread_testcancel(); });
    return cancelled_ || signalled_;
  }

  bool may_yield() const { return !how_.by_signals; }
  const Wait& observer() const { return *this; }

  // False: it is too late. `sooner`: at that time of the monotonic clock at the latest.
  bool sleep(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t sooner) const {
    const timespec then{static_cast<time_t>(sooner / second), static_cast<long>(sooner % second)};
    const bool ours = sooner == never;
    const auto clock = ours ? how_.clock : CLOCK_MONOTONIC;
    const auto at = ours ? how_.at : &then;
    if (at != nullptr && at->tv_sec < 0) return false;  // which the kernel does not know
    volatile int why = 0;
    if (!how_.cancellable) {
      why = sleep_on(word, value, clock, at);
    } else {
      catch_cancellation([&] {
        int before;
        glibc::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
        why = sleep_on(word, value, clock, at);
        glibc::pthread_setcanceltype(before, nullptr);
        await_late_cancellation();
      });
    }
    // A handler with SA_RESTART does not end a wait for ever. But a sleep that is timed, if only by our impatience,
    // does not tell which kind of handler has run.
    signalled_ = how_.by_signals && why == EINTR && (ours || how_.at != nullptr);
    return why != ETIMEDOUT;
  }

  bool was_cancelled() const { return cancelled_; }
  bool was_signalled() const { return signalled_; }

  void end_if_cancelled() const {
    if (cancelled_) [[unlikely]]
      __pthread_unwind_next(&here_);
  }

 private:
  // Who cancels us while the type is asynchronous sends a signal, and setting the type back does not wait for it.
  // Should it come when the thread has returned from its function, glibc would take the result away. At the end of a
  // cancellation point glibc does wait for a signal that is under way; this is the cheapest one.
  static void await_late_cancellation() {
    const int before = errno;
    [[maybe_unused]] const auto nothing = read(-1, nullptr, 0);
    errno = before;
  }

  // Does what may be cancelled, in a frame that has nothing else.
  template <class F>
  [[gnu::noinline]] void catch_cancellation(const F& what) const {
    if (__sigsetjmp(reinterpret_cast<__jmp_buf_tag*>(here_.__cancel_jmp_buf), 0) != 0) {
      cancelled_ = true;
    } else {
      __pthread_register_cancel(&here_);
      what();
    }
    __pthread_unregister_cancel(&here_);
  }

  const Deferred deferred_;
  const How how_;
  mutable bool cancelled_ = false, signalled_ = false;
  mutable __pthread_unwind_buf_t here_;
};

}  // namespace fairlock::preload
