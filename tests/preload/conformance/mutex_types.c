// SPDX-License-Identifier: Apache-2.0
// The types of mutexes: locking a mutex again, and unlocking a mutex that another thread owns.
#include "kinds.h"

#include <stdatomic.h>

// --- normal, default, adaptive: locking again is a deadlock ---

FOR_PLAIN_KINDS(mutex_relock_try, "pthread_mutex_trylock returns EBUSY even to the owner") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

FOR_PLAIN_KINDS(mutex_relock_timed,
                "an owner that locks again with a deadline waits until the deadline, and gets ETIMEDOUT") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const struct timespec soon = deadline(CLOCK_REALTIME, 10), then = deadline(CLOCK_MONOTONIC, 10);
  EQUAL(pthread_mutex_timedlock(mutex, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon));
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &then), ETIMEDOUT);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static void* locks_twice(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  will_block();
  pthread_mutex_lock(mutex);
  return unused;
}

FOR_PLAIN_KINDS(mutex_relock_deadlocks, "an owner that locks again waits for ever") {
  const pthread_t thread = start(locks_twice, NULL);
  until_blocked(1);
  CHECK(!has_ended(thread));
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
}

// --- recursive ---

TEST(mutex_recursive_counts, "a recursive mutex is free once it has been unlocked as often as it was locked") {
  make_type(PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i != 1000; ++i) EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 999; ++i) EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

TEST(mutex_recursive_try_counts, "pthread_mutex_trylock locks a recursive mutex again, and the lock counts") {
  make_type(PTHREAD_MUTEX_RECURSIVE);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

TEST(mutex_recursive_timed_counts,
     "timed locks lock a recursive mutex again at once, with any deadline, and each counts") {
  make_type(PTHREAD_MUTEX_RECURSIVE);
  const struct timespec past = {1, 0}, invalid = {0, -1};
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_timedlock(mutex, &past), 0);
  EQUAL(pthread_mutex_timedlock(mutex, &invalid), 0);
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past), 0);
  for (int i = 0; i != 3; ++i) EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

TEST(mutex_recursive_waiters, "a waiter gets a recursive mutex at the last unlock, and not before") {
  make_type(PTHREAD_MUTEX_RECURSIVE);
  int passed = 0;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, &passed);
  until_blocked(1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  nap(2);
  EQUAL(passed, 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
  EQUAL(passed, 1);
}

static long count;

static void* nests(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    for (int depth = 0; depth != 3; ++depth) EQUAL(pthread_mutex_lock(mutex), 0);
    const long before = count;
    EQUAL(pthread_mutex_unlock(mutex), 0);
    if (i % 16 == 0) sched_yield();
    EQUAL(pthread_mutex_unlock(mutex), 0);
    count = before + 1;
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
  return NULL;
}

TEST(mutex_recursive_excludes, "only one thread holds a recursive mutex at a time, however often it locks the mutex") {
  make_type(PTHREAD_MUTEX_RECURSIVE);
  pthread_t threads[4];
  const long each = turns(200);
  for (int i = 0; i != 4; ++i) threads[i] = start(nests, (void*)each);
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(count, 4 * each);
}

// --- errorcheck ---

TEST(mutex_errorcheck_relock, "an owner that locks an errorcheck mutex again gets EDEADLK, and still holds it once") {
  make_type(PTHREAD_MUTEX_ERRORCHECK);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), EDEADLK);
  EQUAL(pthread_mutex_lock(mutex), EDEADLK);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

TEST(mutex_errorcheck_relock_try, "an owner that tries to lock an errorcheck mutex again gets EBUSY") {
  make_type(PTHREAD_MUTEX_ERRORCHECK);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
}

TEST(mutex_errorcheck_relock_timed,
     "an owner that locks an errorcheck mutex again with a deadline, even a bad one, gets EDEADLK at once") {
  make_type(PTHREAD_MUTEX_ERRORCHECK);
  const struct timespec past = {1, 0}, invalid = {0, -1}, later = deadline(CLOCK_REALTIME, 60000);
  EQUAL(pthread_mutex_timedlock(mutex, &later), 0);
  EQUAL(pthread_mutex_timedlock(mutex, &later), EDEADLK);
  EQUAL(pthread_mutex_timedlock(mutex, &past), EDEADLK);
  EQUAL(pthread_mutex_timedlock(mutex, &invalid), EDEADLK);
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &later), EDEADLK);
}

// --- recursive and errorcheck: the mutex knows its owner ---

#define FOR_KINDS_WITH_OWNER(name, requirement)                                                              \
  static void name(void);                                                                                    \
  TEST(name##_recursive, "recursive mutex: " requirement) { make_type(PTHREAD_MUTEX_RECURSIVE), name(); }    \
  TEST(name##_errorcheck, "errorcheck mutex: " requirement) { make_type(PTHREAD_MUTEX_ERRORCHECK), name(); } \
  static void name(void)

FOR_KINDS_WITH_OWNER(mutex_unlock_free, "unlocking a free mutex returns EPERM, before its first lock and after") {
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
  EQUAL(result_of(tries, NULL), 0);
}

FOR_KINDS_WITH_OWNER(mutex_unlock_by_another,
                     "unlocking a mutex that another thread owns returns EPERM, and changes nothing") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(unlocks, NULL), EPERM);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(unlocks, NULL), EPERM);
}

static void* unlocks_then_waits(void* unused) {
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
  passes(NULL);
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
  return unused;
}

FOR_KINDS_WITH_OWNER(mutex_owner_changes,
                     "the mutex belongs to the thread that locked it last, not to an earlier owner or to a waiter") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(unlocks_then_waits, NULL);
  until_blocked(1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
  EQUAL(result_of(locks_and_ends, NULL), 0);
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
}

FOR_KINDS_WITH_OWNER(mutex_heir_is_not_owner,
                     "a new thread is not the owner, even if it reuses the memory of an owner that has ended") {
  struct timespec soon = deadline(CLOCK_REALTIME, 10);
  EQUAL(result_of(locks_and_ends, NULL), 0);
  EQUAL(result_of(unlocks, NULL), EPERM);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(result_of(locks_until, &soon), ETIMEDOUT);
}
