// SPDX-License-Identifier: Apache-2.0
// Robust mutexes, which are left to glibc: they report that their owner has ended.
#include "kinds.h"

static void make_robust(int type) { make(type, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE); }

TEST(robust_owner_dead,
     "a thread that locks a robust mutex whose owner has ended gets it with EOWNERDEAD, and can make it consistent") {
  make_robust(PTHREAD_MUTEX_NORMAL);
  join(start(locks_and_ends, NULL));
  EQUAL(pthread_mutex_lock(mutex), EOWNERDEAD);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_consistent(mutex), 0);
  EQUAL(pthread_mutex_consistent(mutex), EINVAL);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

TEST(robust_owner_dead_try, "pthread_mutex_trylock returns EOWNERDEAD if the owner has ended") {
  make_robust(PTHREAD_MUTEX_NORMAL);
  join(start(locks_and_ends, NULL));
  EQUAL(pthread_mutex_trylock(mutex), EOWNERDEAD);
  EQUAL(pthread_mutex_consistent(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
}

TEST(robust_owner_dead_timed,
     "pthread_mutex_timedlock and pthread_mutex_clocklock return EOWNERDEAD if the owner has ended") {
  const struct timespec later = deadline(CLOCK_REALTIME, 60000);
  make_robust(PTHREAD_MUTEX_NORMAL);
  join(start(locks_and_ends, NULL));
  EQUAL(pthread_mutex_timedlock(mutex, &later), EOWNERDEAD);
  EQUAL(pthread_mutex_consistent(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(start(locks_and_ends, NULL));
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &later), EOWNERDEAD);
}

static sem_t may_end;

static void* locks_and_ends_on_request(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  will_block();
  EQUAL(sem_wait(&may_end), 0);
  return unused;
}

static void* inherits(void* unused) {
  (void)unused;
  will_block();
  return (void*)(long)pthread_mutex_lock(mutex);
}

TEST(robust_owner_dies_while_others_wait,
     "a thread that waits for a robust mutex when its owner ends gets EOWNERDEAD") {
  make_robust(PTHREAD_MUTEX_NORMAL);
  EQUAL(sem_init(&may_end, 0, 0), 0);
  const pthread_t owner = start(locks_and_ends_on_request, NULL);
  until_blocked(1);
  const pthread_t heir = start(inherits, NULL);
  until_blocked(1);
  EQUAL(sem_post(&may_end), 0);
  join(owner);
  EQUAL((long)join(heir), EOWNERDEAD);
}

TEST(robust_not_recoverable,
     "a robust mutex that is unlocked while inconsistent returns ENOTRECOVERABLE until it is initialised again") {
  make_robust(PTHREAD_MUTEX_NORMAL);
  join(start(locks_and_ends, NULL));
  EQUAL(pthread_mutex_lock(mutex), EOWNERDEAD);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), ENOTRECOVERABLE);
  EQUAL(result_of(locks_and_ends, NULL), ENOTRECOVERABLE);
  EQUAL(pthread_mutex_trylock(mutex), ENOTRECOVERABLE);
  EQUAL(pthread_mutex_destroy(mutex), 0);
  make_robust(PTHREAD_MUTEX_NORMAL);
  EQUAL(pthread_mutex_lock(mutex), 0);
}

TEST(robust_consistent_too_early,
     "pthread_mutex_consistent returns EINVAL for a robust mutex whose owner has not ended") {
  make_robust(PTHREAD_MUTEX_NORMAL);
  EQUAL(pthread_mutex_consistent(mutex), EINVAL);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_consistent(mutex), EINVAL);
}

TEST(robust_recursive, "a robust mutex can be recursive") {
  make_robust(PTHREAD_MUTEX_RECURSIVE);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
}

TEST(robust_errorcheck, "a robust mutex can be an errorcheck mutex") {
  make_robust(PTHREAD_MUTEX_ERRORCHECK);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), EDEADLK);
  EQUAL(result_of(unlocks, NULL), EPERM);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static pthread_mutex_t replaced = PTHREAD_MUTEX_INITIALIZER;

static void* ends_with_both(void* unused) {
  EQUAL(pthread_mutex_lock(&replaced), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  return unused;
}

TEST(robust_beside_stalled,
     "when a thread ends with a robust and a stalled mutex, only the robust mutex can be locked again") {
  make_robust(PTHREAD_MUTEX_NORMAL);
  join(start(ends_with_both, NULL));
  EQUAL(pthread_mutex_lock(mutex), EOWNERDEAD);
  EQUAL(pthread_mutex_trylock(&replaced), EBUSY);
}
