// SPDX-License-Identifier: Apache-2.0
// A condition variable inside glibc's.
//
//   at   field   holds                                               written by
//    0   line    the waiters, the longest first (line/notify.hpp)    waiters and notifiers
//   16   stamp   the generation of the last process that used it     generation.hpp
//   20   inside  the number of waiters that may still touch it,      waiters, when they arrive and when they are done;
//                and `ending` while it is being destroyed            destroy
//   36   wrefs   glibc's: bit 0 process-shared, bit 1 the clock      init
//
// All zero is a condition without waiters, of the real-time clock. A process-shared condition belongs to glibc.
#pragma once

#include <errno.h>
#include <pthread.h>

#include <cstddef>
#include <cstring>

#include <fairlock/line/notify.hpp>

#include "generation.hpp"
#include "shared_memory.hpp"

namespace fairlock::preload {

template <Platform P>
class Condition {
 public:
  static constexpr bool fits() {
    return offsetof(Condition, wrefs_) == offsetof(pthread_cond_t, __data.__wrefs) &&
           sizeof(Condition) <= sizeof(pthread_cond_t);
  }

  static bool ours(const pthread_cond_t* condition) { return (condition->__data.__wrefs & process_shared) == 0; }
  static Condition& of(pthread_cond_t* condition) { return *reinterpret_cast<Condition*>(condition); }

  static void init(pthread_cond_t* condition, clockid_t clock) {
    std::memset(condition, 0, sizeof *condition);
    condition->__data.__wrefs =
        (clock == CLOCK_MONOTONIC ? monotonic : 0) | (SharedMemory::holds(condition) ? process_shared : 0);
  }

  clockid_t clock() const { return (wrefs_ & monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME; }

  // A program may destroy the condition, and free its memory, as soon as all waiters are notified. They may still be on
  // their way out.
  void destroy() {
    check();
    auto now = inside_.fetch_or(ending, order::acq_rel) | ending;
    for (; now != ending; now = inside_.load(order::acquire)) sleep_on(inside_.word(), now, CLOCK_MONOTONIC, nullptr);
  }

  void notify(std::uint64_t most) {
    if (check()) line_.notify(most);  // a line of threads of a descendant has no waiter of this process
  }

  // unlock() and lock() return an error, or 0. The mutex is locked again on every way out except after a failed unlock,
  // and before a cancelled thread runs its handlers.
  template <class Unlock, class Lock>
  int wait(Wait::How how, const Unlock& unlock, const Lock& lock) {
    check();
    how.cancellable = true;
    how.sleeps = P::sleeps;
    const Wait until(how);
    bool notified = false;
    inside_.fetch_add(1, order::relaxed);
    {
      // Before the mutex is unlocked, so that its next owner finds this waiter in line.
      typename WaiterLine<P>::Place place(line_);
      if (const int failed = unlock()) {
        inside_.fetch_add(~0u, order::relaxed);
        return failed;
      }
      notified = place.wait(until);
    }
    if (until.was_cancelled() && notified) line_.notify(1);  // the notification must not be lost with this thread
    // The memory of `inside` may be gone by the time of the unpark.
    if (inside_.fetch_add(~0u, order::acq_rel) == (ending | 1)) QuietFutex::unpark(&inside_);
    const int failed = lock();
    until.end_if_cancelled();
    return failed != 0 ? failed : notified ? 0 : ETIMEDOUT;
  }

 private:
  static constexpr unsigned process_shared = 1, monotonic = 2;
  static constexpr std::uint32_t ending = 1u << 31;

  bool check() {
    return Generations<P>::check(stamp_, [this](auto) {
      std::memset(static_cast<void*>(&line_), 0, sizeof line_);
      inside_.init(0);
    });
  }

  WaiterLine<P> line_;
  std::atomic<std::uint16_t> stamp_;
  typename P::template atomic<std::uint32_t> inside_;
  std::byte unused_[36 - sizeof(WaiterLine<P>) - 2 * sizeof(std::uint32_t)];
  unsigned wrefs_;
};

}  // namespace fairlock::preload
