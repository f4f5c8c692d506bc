// SPDX-License-Identifier: Apache-2.0
// A wait of a Python thread: detached from the interpreter, interruptible by signals, and visible to others while it
// lasts.
#pragma once

#include <cerrno>
#include <cstdint>

#include <fairlock/platform/native.hpp>

#include "pending_signals.hpp"
#include "python.hpp"
#include "waits.hpp"

namespace fairlock::python {

// Whether the calling thread runs Python's signal handlers: only the main thread of the main interpreter does.
bool runs_signal_handlers();
void set_main_thread(unsigned long thread);

// Where Python's signal handlers run. A condition stays in line, because whoever notifies must find it. For a lock the
// thread steps out of line and comes back: it could be the handler that takes the same lock, or waits for somebody who
// does.
enum class Handlers { in_line, out_of_line };

// How long a thread waits (until.hpp): to a deadline, or until a signal handler raises. Between construction and
// attach() the thread is detached from the interpreter, except while a handler runs.
//
// A signal ends a sleep of the main thread with EINTR. But a signal that arrives between the last look and the sleep
// does not, and neither does a signal that another thread receives. So the main thread sleeps in slices, and checks
// between two slices whether a handler is due. This check is one load: the thread stays detached, and keeps its place
// in line. Other threads sleep undisturbed.
class Patience : public WaitObserver {
 public:
  explicit Patience(std::uint64_t deadline, Handlers handlers = Handlers::in_line)
      : deadline_(deadline),
        handlers_(handlers),
        handles_signals_(runs_signal_handlers()),
        state_(PyEval_SaveThread()) {}
  // Of a thread that is detached already, and cannot handle signals.
  struct Detached {};
  Patience(std::uint64_t deadline, Detached)
      : deadline_(deadline), handlers_(Handlers::in_line), handles_signals_(false), state_(nullptr) {}
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // True: a handler raised, and the exception is set. Not a destructor: up to 3.13 a thread that comes back when the
  // interpreter is finalizing ends here, by unwinding, and destructors must not do that.
  bool attach() {
    PyEval_RestoreThread(state_);
    return raised_;
  }

  // From now on only success ends the wait: if a handler raises, the wait goes on, and attach() reports the exception
  // afterwards. The handlers run out of line.
  void make_unconditional() {
    unconditional_ = true;
    handlers_ = Handlers::out_of_line;
  }

  // Keeps it up to date about whether we are counted.
  void shown_by(Wait& wait) { wait_ = &wait; }

  PyInterpreterState* interpreter() const { return state_ == nullptr ? nullptr : PyThreadState_GetInterpreter(state_); }

  std::uint64_t deadline() const { return unconditional_ ? never : deadline_; }

  bool interrupted() const {
    if (raised_ && !unconditional_) return true;
    if (sleeps_ && handler_is_due()) signalled_ = true;
    if (signalled_ && handlers_ == Handlers::out_of_line) return true;
    if (signalled_ || time_to_look()) handle_signals();
    return raised_ && !unconditional_;
  }

  std::uint64_t next_check() const {
    if (!handles_signals_) return never;
    ignore_flag_ = false;
    return steady_now() + slice;
  }

  // Out of line: true if the wait ended only to run handlers. They have run now, and the wait goes on.
  bool to_be_continued() const {
    if (!signalled_) return false;
    handle_signals();
    return !raised_ || unconditional_;
  }

  // A sleep that a signal ended leaves EINTR in errno.
  void before_park(const void*, Unpark) const { sleeps_ = true, errno = 0; }
  void after_park() const {
    if (handles_signals_ && errno == EINTR) signalled_ = true;
  }

  bool may_yield() const { return !handles_signals_; }

  void claims_permit(bool claims) const {
    if (wait_ != nullptr) wait_->counted.store(claims, std::memory_order_relaxed);
  }

  const Patience& observer() const { return *this; }

 private:
  static constexpr std::uint64_t slice = 20'000'000;  // nanoseconds

  bool handler_is_due() const { return handles_signals_ && !ignore_flag_ && signals_pending(state_); }

  // Whoever waits without ever sleeping sees no EINTR. It looks in line, whatever it waits for: to step out on every
  // look would cost it its place. And by the clock: on a busy machine a look may last as long as a time slice.
  bool time_to_look() const {
    if (!handles_signals_ || sleeps_ || (++looks_ & 0x3F) != 0) return false;
    const auto now = steady_now();
    if (looked_ == 0) looked_ = now;
    if (now - looked_ < 5'000'000) return false;
    looked_ = now;
    return true;
  }

  void handle_signals() const;

  const std::uint64_t deadline_;
  Handlers handlers_;
  const bool handles_signals_;
  bool unconditional_ = false;
  Wait* wait_ = nullptr;
  mutable PyThreadState* state_;
  mutable bool signalled_ = false, raised_ = false, sleeps_ = false, ignore_flag_ = false;
  mutable unsigned looks_ = 0;
  mutable std::uint64_t looked_ = 0;
};

}  // namespace fairlock::python
