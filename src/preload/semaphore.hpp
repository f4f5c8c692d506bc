// SPDX-License-Identifier: Apache-2.0
// A semaphore inside glibc's.
//
//   at   field       holds                                              written by
//    0   -
//    8   shared      glibc's: 0, or 128 if it is process-shared         init
//   12   stamp       the generation of the last process that used it    generation.hpp
//   16   semaphore   the semaphore of the catalogue                     its algorithm
//
// All zero is a semaphore without permits. Process-shared semaphores and named ones belong to glibc.
#pragma once

#include <errno.h>
#include <limits.h>
#include <semaphore.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "generation.hpp"

namespace fairlock::preload {

template <Platform P, class S>
class Semaphore {
 public:
  static constexpr bool fits() {
    return offsetof(Semaphore, shared_) == 8 && offsetof(Semaphore, semaphore_) == 16 &&
           sizeof(Semaphore) <= sizeof(sem_t);
  }

  static bool ours(sem_t* semaphore) { return of(semaphore).shared_ == 0; }
  static Semaphore& of(sem_t* semaphore) { return *reinterpret_cast<Semaphore*>(semaphore); }

  static void init(sem_t* semaphore, unsigned permits) {
    std::memset(semaphore, 0, sizeof *semaphore);
    new (&of(semaphore).semaphore_) S(permits);
    of(semaphore).check();
  }

  // These return an error, or 0. A signal handler may post.
  int post() {
    check();
    if (semaphore_.value() >= SEM_VALUE_MAX) return EOVERFLOW;
    semaphore_.release(1);
    return 0;
  }

  int trywait() {
    check();
    return semaphore_.try_acquire() ? 0 : EAGAIN;
  }

  int wait(Wait::How how) {
    check();
    pthread_testcancel();  // a cancellation point even if the thread need not wait
    if (semaphore_.try_acquire()) return 0;
    how.cancellable = true;
    how.by_signals = true;
    how.sleeps = P::sleeps;
    const Wait until(how);
    const bool acquired = semaphore_.acquire_until(until);
    if (until.was_cancelled() && acquired) semaphore_.release(1);
    until.end_if_cancelled();
    return acquired ? 0 : until.was_signalled() ? EINTR : ETIMEDOUT;
  }

  int value() {
    check();
    return static_cast<int>(std::clamp<std::int64_t>(semaphore_.value(), 0, SEM_VALUE_MAX));
  }

 private:
  // In the child of a fork the waiters are gone, unless its only thread is one.
  void check() {
    Generations<P>::check(stamp_, [this](auto former_stamp) {
      if (Generations<P>::complete(former_stamp)) return;
      new (&semaphore_) S(static_cast<std::uint64_t>(std::max<std::int64_t>(semaphore_.value(), 0)));
    });
  }

  std::uint64_t unused_;
  int shared_;
  std::atomic<std::uint16_t> stamp_;
  alignas(8) S semaphore_;
};

}  // namespace fairlock::preload
