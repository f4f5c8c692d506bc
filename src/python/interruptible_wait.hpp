// SPDX-License-Identifier: Apache-2.0
// InterruptibleWait: how a Python thread waits. It is detached from the interpreter, signals can interrupt it, and the
// registry records the wait.
#pragma once

#include <cerrno>
#include <cstdint>

#include <fairlock/platform/native.hpp>

#include "pending_signals.hpp"
#include "python.hpp"
#include "wait_registry.hpp"

namespace fairlock::python {

// The Until of the algorithms and its observer (until.hpp): the wait ends at a deadline, or when a signal handler
// raises. The thread is detached from the interpreter between detach() and attach(), except while a handler runs.
//
// A signal ends a sleep of the main thread with EINTR. But a signal that arrives between the last check and the sleep
// does not, and neither does a signal that another thread receives. So the main thread sleeps in slices, and checks
// between two slices whether a handler is due. This check is one load: the thread stays detached, and keeps its place
// in line. Other threads sleep undisturbed.
class InterruptibleWait : public WaitObserver {
 public:
  // For an attached thread.
  InterruptibleWait(PyObject* object, std::atomic<std::uint32_t>& waiters, Handlers handlers)
      : record_(object, &waiters, PyInterpreterState_Get(), handlers),
        handlers_(handlers),
        handles_signals_(runs_signal_handlers()) {}

  // For a detached thread, which may have no Python thread state. The wait ignores signals. `waiters` may be null.
  InterruptibleWait(PyObject* object, std::atomic<std::uint32_t>* waiters, std::uint64_t deadline)
      : record_(object, waiters, nullptr, Handlers::in_line),
        handlers_(Handlers::in_line),
        handles_signals_(false),
        deadline_(deadline) {}

  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;

  // For a wait on a condition: where the thread stands in line.
  void stands_at(void* place) { record_.place = place; }

  void detach(std::uint64_t deadline) {
    deadline_ = deadline;
    state_ = PyEval_SaveThread();
  }

  // True: a handler raised, and the exception is set. A destructor cannot do this: up to Python 3.13, if a thread
  // attaches while the interpreter finalizes, Python ends the thread by unwinding its stack, and a destructor must not
  // unwind.
  bool attach() {
    PyEval_RestoreThread(state_);
    return raised_;
  }

  // From now on only success ends the wait. If a handler raises, the wait goes on, and attach() reports the exception
  // afterwards. The handlers run out of line.
  void make_unconditional() {
    unconditional_ = true;
    handlers_ = Handlers::out_of_line;
  }

  PyInterpreterState* interpreter() const { return record_.interpreter; }

  std::uint64_t deadline() const { return unconditional_ ? never : deadline_; }

  bool interrupted() const {
    if (raised_ && !unconditional_) return true;
    if (sleeps_ && handler_is_due()) signalled_ = true;
    if (signalled_ && handlers_ == Handlers::out_of_line) return true;
    if (signalled_ || time_to_look()) handle_signals();
    return raised_ && !unconditional_;
  }

  // Runs the handlers if the thread left the line for them. True: the thread waits again.
  bool goes_on() const {
    if (!signalled_) return false;
    handle_signals();
    return !raised_ || unconditional_;
  }

  // --- the observer ---

  const InterruptibleWait& observer() const { return *this; }

  // A sleep that a signal ended leaves EINTR in errno.
  void before_park(const void*, Unpark) const { sleeps_ = true, errno = 0; }
  void after_park() const {
    if (handles_signals_ && errno == EINTR) signalled_ = true;
  }

  std::uint64_t next_check() const {
    if (!handles_signals_) return never;
    ignore_flag_ = false;
    return steady_now() + slice;
  }

  bool may_yield() const { return !handles_signals_; }

  void claims_permit(bool claims) const { record_.claims_permit.store(claims, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t slice = 20'000'000;         // nanoseconds
  static constexpr std::uint64_t look_interval = 5'000'000;  // nanoseconds

  bool handler_is_due() const { return handles_signals_ && !ignore_flag_ && signals_pending(state_); }

  // Under a policy that never sleeps, there is no EINTR. The thread checks for signals without leaving the line, even
  // for a lock: leaving at every check would cost the thread its place. The clock decides when to check, because on a
  // busy machine two looks at the lock may be a whole time slice apart.
  bool time_to_look() const {
    if (!handles_signals_ || sleeps_ || (++looks_ & 0x3F) != 0) return false;
    const auto now = steady_now();
    if (last_look_ == 0) last_look_ = now;
    if (now - last_look_ < look_interval) return false;
    last_look_ = now;
    return true;
  }

  void handle_signals() const;

  mutable WaitRecord record_;
  Handlers handlers_;
  const bool handles_signals_;
  bool unconditional_ = false;
  std::uint64_t deadline_ = never;
  mutable PyThreadState* state_ = nullptr;
  mutable bool signalled_ = false, raised_ = false, sleeps_ = false, ignore_flag_ = false;
  mutable unsigned looks_ = 0;
  mutable std::uint64_t last_look_ = 0;
};

}  // namespace fairlock::python
