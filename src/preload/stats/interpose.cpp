// SPDX-License-Identifier: Apache-2.0
// The functions that a program calls. Each calls the next definition of its name, which is glibc's or that of a lock
// preloaded behind this object, and counts the outcome.
//
// Each acquisition begins with a try. If the try succeeds, the thread did not wait. On a first come, first served lock
// a try fails while a thread waits, so no thread jumps the line. glibc's own mutex begins with a try, too. A recursive
// relock succeeds at once. If the object is busy, the lock decides: it waits, or reports a relock. So the program sees
// the same results as without this object.
//
// Unlocking is not counted. Nor are read-write locks, spin locks and C11's mtx_lock, which glibc does not implement
// through these functions.
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../glibc.hpp"
#include "tally.hpp"

// A function of the lock that is preloaded behind this object. The symbol is weak, and the loader resolves it, because
// a failing dlsym would allocate.
extern "C" [[gnu::weak, gnu::visibility("default")]] std::uint64_t fairlock_preload_parks();

namespace fairlock::stats {
namespace {

namespace next = preload::glibc;
constinit preload::Original<void(int)> next_exit{"_exit"};

std::uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t parks() { return &fairlock_preload_parks == nullptr ? 0 : fairlock_preload_parks(); }

// A wait, which begins with the construction of this object.
class Wait {
 public:
  void count_acquisition(Tally& tally) const {
    const auto time = finish(tally);
    add(tally.acquisitions, std::uint64_t{1});
    add(tally.waited, time.waited);
    if (time.parks != 0) add(tally.woken, std::uint64_t{1});
  }

  void count_abandoned(Tally& tally) const {
    finish(tally);
    add(tally.abandoned, 1u);
  }

 private:
  struct Time {
    std::uint64_t waited, parks;
  };

  Time finish(Tally& tally) const {
    const Time time{now() - began_, parks() - parks_before_};
    add(tally.parks, time.parks);
    if (tally.longest.load(relaxed) < time.waited) tally.longest.store(time.waited, relaxed);
    return time;
  }

  std::uint64_t began_ = now(), parks_before_ = parks();
};

void count_acquisition(const void* object, Kind kind) {
  if (Tally* const tally = Table::find(object, kind)) add(tally->acquisitions, std::uint64_t{1});
}

constexpr int robust = 0x10, inherits = 0x20;  // bits of glibc's kinds; such mutexes are always glibc's

// After EOWNERDEAD, which only a robust mutex returns, the caller owns the mutex, too.
bool owns(int result) { return result == 0 || result == EOWNERDEAD; }

int attempt(pthread_mutex_t* mutex) {
  if ((mutex->__data.__kind & robust) == 0) [[likely]]
    return next::pthread_mutex_trylock(mutex);
  // glibc's trylock returns ENOTRECOVERABLE and keeps the mutex, so that the next thread to lock it would hang. A wait
  // until a time in the past is a try, too.
  const timespec past{0, 0};
  const int result = next::pthread_mutex_timedlock(mutex, &past);
  return result == ETIMEDOUT ? EBUSY : result;
}

template <class F>
int lock(pthread_mutex_t* mutex, const void* site, const F& wait) {
  if (const int result = attempt(mutex); result != EBUSY) {
    if (owns(result)) count_acquisition(mutex, Kind::mutex);
    return result;
  }
  const Wait waiting;
  const int result = wait();
  if (owns(result)) {
    if (Tally* const tally = Table::find(mutex, Kind::mutex, site)) waiting.count_acquisition(*tally);
  } else if (result == ETIMEDOUT) {
    if (Tally* const tally = Table::find(mutex, Kind::mutex, site)) waiting.count_abandoned(*tally);
  }  // else a mistake, such as a relock: the thread did not wait
  return result;
}

// Only the end of a wait on a condition is visible here: the caller has its mutex again. How long it waited for the
// mutex, rather than for the notification, is not visible.
int count_reacquired(pthread_mutex_t* mutex, int result) {
  if (owns(result) || result == ETIMEDOUT) count_acquisition(mutex, Kind::mutex);
  return result;
}

template <class F>
int wait(sem_t* semaphore, const void* site, const F& wait) {
  pthread_testcancel();  // these functions are cancellation points even if the thread need not wait
  const int saved_errno = errno;
  if (next::sem_trywait(semaphore) == 0) {
    count_acquisition(semaphore, Kind::semaphore);
    return 0;
  }
  errno = saved_errno;
  const Wait waiting;
  const int result = wait();
  if (result == 0) {
    if (Tally* const tally = Table::find(semaphore, Kind::semaphore, site)) waiting.count_acquisition(*tally);
  } else if (errno == ETIMEDOUT) {
    if (Tally* const tally = Table::find(semaphore, Kind::semaphore, site)) waiting.count_abandoned(*tally);
  }  // else a signal handler, or a mistake
  return result;
}

bool is_known(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }
bool is_valid(const timespec* at) { return at->tv_nsec >= 0 && at->tv_nsec < 1'000'000'000; }

[[gnu::constructor]] void at_load() {
  const int saved_errno = errno;
  next::find_all();
  next_exit.find();
  begin();
  pthread_atfork(nullptr, nullptr, [] {
    Table::clear();
    begin();
  });
  at_quick_exit(report);
  errno = saved_errno;
}

[[gnu::destructor]] void at_exit() { report(); }

}  // namespace
}  // namespace fairlock::stats

using namespace fairlock::stats;

#define FAIRLOCK_EXPORT extern "C" [[gnu::visibility("default")]]
#define FAIRLOCK_CALLER __builtin_return_address(0)

// --- mutexes ---

FAIRLOCK_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  return lock(mutex, FAIRLOCK_CALLER, [&] { return next::pthread_mutex_lock(mutex); });
}

FAIRLOCK_EXPORT int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  const int result = next::pthread_mutex_trylock(mutex);
  if (owns(result)) count_acquisition(mutex, Kind::mutex);
  return result;
}

FAIRLOCK_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* at) noexcept {
  return lock(mutex, FAIRLOCK_CALLER, [&] { return next::pthread_mutex_timedlock(mutex, at); });
}

FAIRLOCK_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* at) noexcept {
  const auto wait = [&] { return next::pthread_mutex_clocklock(mutex, clock, at); };
  // An unknown clock is a mistake even if the mutex is free. A mutex that inherits priorities knows only one clock.
  if (is_known(clock) && (clock == CLOCK_REALTIME || (mutex->__data.__kind & inherits) == 0))
    return lock(mutex, FAIRLOCK_CALLER, wait);
  const int result = wait();
  if (owns(result)) count_acquisition(mutex, Kind::mutex);
  return result;
}

// Older names of the same functions.
FAIRLOCK_EXPORT [[gnu::alias("pthread_mutex_lock"), gnu::nonnull]] int __pthread_mutex_lock(pthread_mutex_t*) noexcept;
FAIRLOCK_EXPORT [[gnu::alias("pthread_mutex_trylock"), gnu::nonnull]] int __pthread_mutex_trylock(
    pthread_mutex_t*) noexcept;

// --- conditions: cancellation points, so glibc may unwind a cancelled thread's stack through these ---

FAIRLOCK_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return count_reacquired(mutex, next::pthread_cond_wait(condition, mutex));
}

FAIRLOCK_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* at) {
  return count_reacquired(mutex, next::pthread_cond_timedwait(condition, mutex, at));
}

FAIRLOCK_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* at) {
  return count_reacquired(mutex, next::pthread_cond_clockwait(condition, mutex, clock, at));
}

// --- semaphores: the same ---

FAIRLOCK_EXPORT int sem_wait(sem_t* semaphore) {
  return wait(semaphore, FAIRLOCK_CALLER, [&] { return next::sem_wait(semaphore); });
}

FAIRLOCK_EXPORT int sem_trywait(sem_t* semaphore) noexcept {
  const int result = next::sem_trywait(semaphore);
  if (result == 0) count_acquisition(semaphore, Kind::semaphore);
  return result;
}

FAIRLOCK_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* at) {
  const auto timed = [&] { return next::sem_timedwait(semaphore, at); };
  // An invalid time is a mistake even if the thread need not wait.
  return is_valid(at) ? wait(semaphore, FAIRLOCK_CALLER, timed) : timed();
}

FAIRLOCK_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* at) {
  const auto timed = [&] { return next::sem_clockwait(semaphore, clock, at); };
  return is_known(clock) && is_valid(at) ? wait(semaphore, FAIRLOCK_CALLER, timed) : timed();
}

// --- the end of a process without destructors, which is common in children of a fork ---

FAIRLOCK_EXPORT [[gnu::noreturn]] void _exit(int status) {
  report();
  next_exit(status);
  __builtin_unreachable();
}

FAIRLOCK_EXPORT [[gnu::noreturn, gnu::alias("_exit")]] void _Exit(int status) noexcept;
