// SPDX-License-Identifier: Apache-2.0
// A wait as POSIX defines it: it may end at a point in time of one of two clocks, after a signal handler, or by
// cancellation.
//
// Cancellation reaches a sleeping thread only while its cancellation type is asynchronous, so the type is asynchronous
// during that one system call. glibc then begins to unwind the stack. This file catches the unwinding at once, where no
// other frame of ours is on the stack below. The algorithm learns that it is interrupted and leaves its line, as at a
// timeout. When everything is in order again (the mutex locked, or the permit returned), the caller of the algorithm
// resumes the unwinding (`end_if_cancelled`). A signal handler that ends the thread during the wait is caught in the
// same way.
//
// A thread that chose asynchronous cancellation could end anywhere, with an element of its stack in a line. So its
// cancellation is deferred during a wait, except for that system call.
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

inline bool is_valid(const timespec& time) { return time.tv_nsec >= 0 && time.tv_nsec < second; }
inline bool is_known(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

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

// Sleeps while the word has this value, and returns 0 or the kernel's error. Like every pthread function, it keeps
// errno.
inline int sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value, clockid_t clock, const timespec* at) {
  const int saved_errno = errno;
  const int how = FUTEX_WAIT_BITSET_PRIVATE | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);
  const long result = syscall(SYS_futex, &word, how, value, at, nullptr, FUTEX_BITSET_MATCH_ANY);
  const int error = result == 0 ? 0 : errno;
  errno = saved_errno;
  return error;
}

// Whether this thread may be cancelled anywhere, as pthread_setcanceltype says.
inline constinit thread_local bool asynchronous = false;

class DeferredCancellation {
 public:
  DeferredCancellation() {
    if (asynchronous) [[unlikely]]
      glibc::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before_);
  }
  ~DeferredCancellation() {
    // This ends the thread if it was cancelled meanwhile.
    if (asynchronous) [[unlikely]]
      glibc::pthread_setcanceltype(before_, nullptr);
  }
  DeferredCancellation(const DeferredCancellation&) = delete;
  DeferredCancellation& operator=(const DeferredCancellation&) = delete;

 private:
  int before_;
};

class Wait : public WaitObserver {
 public:
  struct How {
    clockid_t clock = CLOCK_MONOTONIC;
    const timespec* at = nullptr;  // null: for ever
    bool cancellable = false;      // the wait is a cancellation point
    bool by_signals = false;       // a signal handler that has run ends the wait
    bool sleeps = true;            // the policy sleeps; if not, interrupted() must look for a cancellation
  };

  explicit Wait(const How& how) : how_(how) {}

  std::uint64_t deadline() const {
    if (how_.at == nullptr) return never;
    const auto at = nanoseconds(*how_.at);
    if (how_.clock == CLOCK_MONOTONIC) return at;
    const auto there = now(how_.clock);  // read every time, because this clock may be set
    return at <= there ? 0 : now(CLOCK_MONOTONIC) + (at - there);
  }

  bool interrupted() const {
    if (!how_.sleeps && how_.cancellable && !cancelled_) catch_cancellation([] { pthread_testcancel(); });
    return cancelled_ || signalled_;
  }

  bool may_yield() const { return !how_.by_signals; }
  const Wait& observer() const { return *this; }

  // Returns false after a timeout. `sooner` is another limit, in the time of the monotonic clock.
  bool sleep(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t sooner) const {
    const timespec then{static_cast<time_t>(sooner / second), static_cast<long>(sooner % second)};
    const bool own_limit = sooner == never;
    const auto clock = own_limit ? how_.clock : CLOCK_MONOTONIC;
    const auto at = own_limit ? how_.at : &then;
    if (at != nullptr && at->tv_sec < 0) return false;  // the kernel refuses negative times
    volatile int error = 0;
    if (!how_.cancellable) {
      error = sleep_on(word, value, clock, at);
    } else {
      catch_cancellation([&] {
        int former_type;
        glibc::pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &former_type);
        error = sleep_on(word, value, clock, at);
        glibc::pthread_setcanceltype(former_type, nullptr);
        await_late_cancellation();
      });
    }
    // The kernel continues a sleep without a limit after a handler with SA_RESTART. It does not continue a sleep with a
    // limit, even if only `sooner` is one, so that EINTR does not say which kind of handler has run.
    signalled_ = how_.by_signals && error == EINTR && (own_limit || how_.at != nullptr);
    return error != ETIMEDOUT;
  }

  bool was_cancelled() const { return cancelled_; }
  bool was_signalled() const { return signalled_; }

  void end_if_cancelled() const {
    if (cancelled_) [[unlikely]]
      __pthread_unwind_next(&here_);
  }

 private:
  // A thread that cancels us while the type is asynchronous sends a signal, and setting the type back does not wait for
  // that signal. If it arrived after our function has returned, the caller would lose the result. At the end of a
  // cancellation point glibc waits for a signal that is under way, and read() is the cheapest cancellation point.
  static void await_late_cancellation() {
    const int saved_errno = errno;
    [[maybe_unused]] const auto failure = read(-1, nullptr, 0);
    errno = saved_errno;
  }

  // Calls action(), which may be cancelled, in a frame that holds nothing else.
  template <class F>
  [[gnu::noinline]] void catch_cancellation(const F& action) const {
    if (__sigsetjmp(reinterpret_cast<__jmp_buf_tag*>(here_.__cancel_jmp_buf), 0) != 0) {
      cancelled_ = true;
    } else {
      __pthread_register_cancel(&here_);
      action();
    }
    __pthread_unregister_cancel(&here_);
  }

  const DeferredCancellation deferred_;
  const How how_;
  mutable bool cancelled_ = false, signalled_ = false;
  mutable __pthread_unwind_buf_t here_;
};

}  // namespace fairlock::preload
