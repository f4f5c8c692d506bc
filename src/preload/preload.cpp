// SPDX-License-Identifier: Apache-2.0
// The POSIX functions. Each preload object is this file, built for one lock (choice.hpp).
//
// The names have no symbol version, so they replace glibc's functions of every version that a program may ask for. With
// a version, a program that was built for another one would get half of its functions from here and half from glibc.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <cstring>

#include FAIRLOCK_PRELOAD_CHOICE  // defines ChosenPlatform, ChosenLock and ChosenSemaphore
#include "condition.hpp"
#include "glibc.hpp"
#include "mutex.hpp"
#include "semaphore.hpp"

using namespace fairlock;
using namespace fairlock::preload;

using OurMutex = preload::Mutex<ChosenPlatform, ChosenLock>;
using OurCondition = preload::Condition<ChosenPlatform>;
using OurSemaphore = preload::Semaphore<ChosenPlatform, ChosenSemaphore>;
static_assert(OurMutex::fits() && OurCondition::fits() && OurSemaphore::fits());

#pragma GCC visibility push(default)
extern "C" {
char fairlock_preload_waiting[32];  // set when the object is loaded
}
#pragma GCC visibility pop

namespace {

// The bridge: a glibc mutex for waits on a process-shared condition with a mutex of ours, which glibc must not see. A
// waiter holds the bridge from before it unlocks its own mutex until glibc has put it in line. While there are such
// waiters, a signal from the same process takes the bridge too, so it cannot come in between.
constinit pthread_mutex_t bridge = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<unsigned> waiters_on_bridge{0};

template <class F>
int signal_over_bridge(const F& signal) {
  if (waiters_on_bridge.load(std::memory_order_acquire) == 0) return signal();
  glibc::pthread_mutex_lock(&bridge);
  const int result = signal();
  glibc::pthread_mutex_unlock(&bridge);
  return result;
}

template <class F>
int wait_over_bridge(pthread_mutex_t* mutex, const F& wait) {
  if (!OurMutex::ours(mutex)) return wait(mutex);
  const auto leave = [](void* mutex) {
    glibc::pthread_mutex_unlock(&bridge);
    waiters_on_bridge.fetch_sub(1, std::memory_order_relaxed);
    if (mutex != nullptr) OurMutex::of(static_cast<pthread_mutex_t*>(mutex)).lock_again();
  };
  // Count the waiter before the mutex is unlocked, so that its next owner sees the waiter.
  waiters_on_bridge.fetch_add(1, std::memory_order_relaxed);
  glibc::pthread_mutex_lock(&bridge);
  if (const int error = OurMutex::of(mutex).unlock(true)) {
    leave(nullptr);
    return error;
  }
  int result;
  pthread_cleanup_push(leave, mutex);  // if glibc cancels the thread, its handlers need the mutex locked
  result = wait(&bridge);
  pthread_cleanup_pop(1);
  return result;
}

[[gnu::constructor]] void at_load() {
  glibc::find_all();
  Generations<ChosenPlatform>::at_load();
  ChosenPlatform::WaitingPolicies::read_environment();
  std::strncpy(fairlock_preload_waiting, ChosenPlatform::WaitingPolicies::name(), sizeof fairlock_preload_waiting - 1);
  pthread_atfork(nullptr, nullptr, [] {  // the threads that were on the bridge are gone
    bridge = PTHREAD_MUTEX_INITIALIZER;
    waiters_on_bridge.store(0, std::memory_order_relaxed);
  });
}

int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex, const Wait::How& how) {
  auto& ours = OurCondition::of(condition);
  if (!OurMutex::ours(mutex)) {
    const glibc::HeldMutex held(mutex);
    return ours.wait(how, [&] { return held.unlock(); }, [&] { return held.lock_again(); });
  }
  auto& held = OurMutex::of(mutex);
  return ours.wait(how, [&] { return held.unlock(true); }, [&] { return held.lock_again(); });
}

// The result of a semaphore function: 0, or -1 with the error in errno.
int set_errno(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// These names show a program, or a person with a debugger, what is loaded.
extern const char fairlock_preload_lock[];
const char fairlock_preload_lock[] = FAIRLOCK_PRELOAD_LOCK;
std::uint64_t fairlock_preload_parks() { return ChosenPlatform::parks(); }

// --- mutexes ---

int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  int type = PTHREAD_MUTEX_DEFAULT, shared = PTHREAD_PROCESS_PRIVATE, protocol = PTHREAD_PRIO_NONE,
      robust = PTHREAD_MUTEX_STALLED;
  if (attributes != nullptr) {
    pthread_mutexattr_gettype(attributes, &type);
    pthread_mutexattr_getpshared(attributes, &shared);
    pthread_mutexattr_getprotocol(attributes, &protocol);
    pthread_mutexattr_getrobust(attributes, &robust);
  }
  if (shared != PTHREAD_PROCESS_PRIVATE || protocol != PTHREAD_PRIO_NONE || robust != PTHREAD_MUTEX_STALLED)
    return glibc::pthread_mutex_init(mutex, attributes);
  OurMutex::init(mutex, type, attributes != nullptr);
  return 0;
}

int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  return OurMutex::ours(mutex) ? OurMutex::of(mutex).destroy() : glibc::pthread_mutex_destroy(mutex);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (OurMutex::ours(mutex)) [[likely]]
    return OurMutex::of(mutex).lock();
  return glibc::pthread_mutex_lock(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return OurMutex::ours(mutex) ? OurMutex::of(mutex).trylock() : glibc::pthread_mutex_trylock(mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* at) noexcept {
  return OurMutex::ours(mutex) ? OurMutex::of(mutex).lock_until(CLOCK_REALTIME, at)
                               : glibc::pthread_mutex_timedlock(mutex, at);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* at) noexcept {
  return OurMutex::ours(mutex) ? OurMutex::of(mutex).lock_until(clock, at)
                               : glibc::pthread_mutex_clocklock(mutex, clock, at);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (OurMutex::ours(mutex)) [[likely]]
    return OurMutex::of(mutex).unlock();
  return glibc::pthread_mutex_unlock(mutex);
}

// Other names of the same functions, which glibc keeps for old programs.
#define FAIRLOCK_SAME_AS(name) noexcept __attribute__((alias(#name), nonnull(1)))
int __pthread_mutex_init(pthread_mutex_t*, const pthread_mutexattr_t*) FAIRLOCK_SAME_AS(pthread_mutex_init);
int __pthread_mutex_destroy(pthread_mutex_t*) FAIRLOCK_SAME_AS(pthread_mutex_destroy);
int __pthread_mutex_lock(pthread_mutex_t*) FAIRLOCK_SAME_AS(pthread_mutex_lock);
int __pthread_mutex_trylock(pthread_mutex_t*) FAIRLOCK_SAME_AS(pthread_mutex_trylock);
int __pthread_mutex_unlock(pthread_mutex_t*) FAIRLOCK_SAME_AS(pthread_mutex_unlock);
#undef FAIRLOCK_SAME_AS

// --- condition variables: a wait may end by unwinding the stack, so it is not noexcept ---

int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  int shared = PTHREAD_PROCESS_PRIVATE;
  clockid_t clock = CLOCK_REALTIME;
  if (attributes != nullptr) {
    pthread_condattr_getpshared(attributes, &shared);
    pthread_condattr_getclock(attributes, &clock);
  }
  if (shared != PTHREAD_PROCESS_PRIVATE) return glibc::pthread_cond_init(condition, attributes);
  OurCondition::init(condition, clock);
  return 0;
}

int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  if (!OurCondition::ours(condition)) return glibc::pthread_cond_destroy(condition);
  OurCondition::of(condition).destroy();
  return 0;
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (!OurCondition::ours(condition)) return signal_over_bridge([=] { return glibc::pthread_cond_signal(condition); });
  OurCondition::of(condition).notify(1);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (!OurCondition::ours(condition))
    return signal_over_bridge([=] { return glibc::pthread_cond_broadcast(condition); });
  OurCondition::of(condition).notify(~std::uint64_t{0});
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!OurCondition::ours(condition))
    return wait_over_bridge(mutex, [=](pthread_mutex_t* held) { return glibc::pthread_cond_wait(condition, held); });
  return wait_for(condition, mutex, {});
}

// An invalid time is an error that must be found before the mutex is unlocked. glibc checks the time too, but on the
// bridge that is too late.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* at) {
  if (!is_valid(*at)) return EINVAL;
  if (!OurCondition::ours(condition))
    return wait_over_bridge(mutex,
                            [=](pthread_mutex_t* held) { return glibc::pthread_cond_timedwait(condition, held, at); });
  return wait_for(condition, mutex, {.clock = OurCondition::of(condition).clock(), .at = at});
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* at) {
  if (!is_valid(*at) || !is_known(clock)) return EINVAL;
  if (!OurCondition::ours(condition))
    return wait_over_bridge(
        mutex, [=](pthread_mutex_t* held) { return glibc::pthread_cond_clockwait(condition, held, clock, at); });
  return wait_for(condition, mutex, {.clock = clock, .at = at});
}

// --- semaphores ---

int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  if (shared != 0) return glibc::sem_init(semaphore, shared, value);
  if (value > SEM_VALUE_MAX) return set_errno(EINVAL);
  OurSemaphore::init(semaphore, value);
  return SharedMemory::holds(semaphore) ? glibc::sem_init(semaphore, 1, value) : 0;
}

int sem_destroy(sem_t* semaphore) noexcept { return OurSemaphore::ours(semaphore) ? 0 : glibc::sem_destroy(semaphore); }

int sem_post(sem_t* semaphore) noexcept {
  return OurSemaphore::ours(semaphore) ? set_errno(OurSemaphore::of(semaphore).post()) : glibc::sem_post(semaphore);
}

int sem_trywait(sem_t* semaphore) noexcept {
  return OurSemaphore::ours(semaphore) ? set_errno(OurSemaphore::of(semaphore).trywait())
                                       : glibc::sem_trywait(semaphore);
}

int sem_wait(sem_t* semaphore) {
  return OurSemaphore::ours(semaphore) ? set_errno(OurSemaphore::of(semaphore).wait({})) : glibc::sem_wait(semaphore);
}

int sem_timedwait(sem_t* semaphore, const timespec* at) {
  if (!OurSemaphore::ours(semaphore)) return glibc::sem_timedwait(semaphore, at);
  if (!is_valid(*at)) return set_errno(EINVAL);
  return set_errno(OurSemaphore::of(semaphore).wait({.clock = CLOCK_REALTIME, .at = at}));
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* at) {
  if (!OurSemaphore::ours(semaphore)) return glibc::sem_clockwait(semaphore, clock, at);
  if (!is_known(clock) || !is_valid(*at)) return set_errno(EINVAL);
  return set_errno(OurSemaphore::of(semaphore).wait({.clock = clock, .at = at}));
}

int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  if (!OurSemaphore::ours(semaphore)) return glibc::sem_getvalue(semaphore, value);
  *value = OurSemaphore::of(semaphore).value();
  return 0;
}

// --- memory and threads: glibc does the work, and we take note ---

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  // malloc may map its first memory before our constructor has run, and the search for the original may call malloc.
  void* const memory = glibc::mmap.is_found()
                           ? glibc::mmap(at, size, protection, flags, file, offset)
                           : reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
  if (memory != MAP_FAILED && SharedMemory::is_shared_mapping(protection, flags)) SharedMemory::add(memory, size);
  return memory;
}

void* mmap64(void*, std::size_t, int, int, int, off64_t) noexcept __attribute__((alias("mmap")));

void* shmat(int segment, const void* at, int flags) noexcept {
  void* const memory = glibc::shmat(segment, at, flags);
  shmid_ds status;
  if (memory != MAP_FAILED && (flags & SHM_RDONLY) == 0 && shmctl(segment, IPC_STAT, &status) == 0)
    SharedMemory::add(memory, status.shm_segsz);
  return memory;
}

int pthread_setcanceltype(int type, int* before) {
  const int error = glibc::pthread_setcanceltype(type, before);
  if (error == 0) asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
  return error;
}

}  // extern "C"
#pragma GCC visibility pop
