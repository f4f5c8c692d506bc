// SPDX-License-Identifier: Apache-2.0
// Conditions with mutexes of every type, replaced or not.
#include "condition_waiters.h"

static pthread_mutex_t special(int type, int protocol, int robust, int shared) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_settype(&attributes, type), 0);
  EQUAL(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
  EQUAL(pthread_mutexattr_setrobust(&attributes, robust), 0);
  EQUAL(pthread_mutexattr_setpshared(&attributes, shared), 0);
  EQUAL(pthread_mutex_init(&mutex, &attributes), 0);
  return mutex;
}
#define PLAIN PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE
#define ROBUST PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE

static pthread_cond_t shared_condition(void) {
  pthread_condattr_t attributes;
  pthread_cond_t condition;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EQUAL(pthread_cond_init(&condition, &attributes), 0);
  return condition;
}

static struct waiters all = WAITERS;

static void* trylocks(void* mutex) {
  const int result = pthread_mutex_trylock(mutex);
  if (result == 0) EQUAL(pthread_mutex_unlock(mutex), 0);
  return (void*)(long)result;
}

// Signals, broadcasts and deadlines with this mutex. The mutex is held exactly when it should be.
static void expect_working(pthread_mutex_t mutex) {
  all.mutex = mutex;
  for (int turn = 0; turn != 10; ++turn) {
    pthread_t threads[4];
    all.waiting = all.returned = all.go = 0;
    for (int i = 0; i != 4; ++i) threads[i] = start(waits_to_go, &all);
    lock_when_waiting(&all, 4);
    all.go = 1;
    EQUAL(pthread_cond_signal(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    lock_when_waiting(&all, 3);
    all.go = 3;
    EQUAL(pthread_cond_broadcast(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    for (int i = 0; i != 4; ++i) join(threads[i]);
  }
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  const struct timespec past = deadline(CLOCK_REALTIME, -1), soon = deadline(CLOCK_REALTIME, 3);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &past), ETIMEDOUT);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &soon), ETIMEDOUT);
  EQUAL(result_of(trylocks, &all.mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(result_of(trylocks, &all.mutex), 0);
  EQUAL(pthread_cond_destroy(&all.condition), 0);
  EQUAL(pthread_mutex_destroy(&all.mutex), 0);
}

TEST(condition_with_normal_mutex, "conditions work with a mutex of the normal type") {
  expect_working(special(PTHREAD_MUTEX_NORMAL, PLAIN));
}

TEST(condition_with_recursive_mutex, "conditions work with a recursive mutex that is locked once") {
  expect_working(special(PTHREAD_MUTEX_RECURSIVE, PLAIN));
}

TEST(condition_with_errorcheck_mutex, "conditions work with an errorcheck mutex") {
  expect_working(special(PTHREAD_MUTEX_ERRORCHECK, PLAIN));
}

TEST(condition_with_adaptive_mutex, "conditions work with an adaptive mutex") {
  expect_working(special(PTHREAD_MUTEX_ADAPTIVE_NP, PLAIN));
}

TEST(condition_with_robust_mutex, "conditions work with a robust mutex") {
  expect_working(special(PTHREAD_MUTEX_NORMAL, ROBUST));
}

TEST(condition_with_inheriting_mutex, "conditions work with a mutex with priority inheritance") {
  expect_working(special(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE));
}

TEST(condition_with_shared_mutex, "a private condition works with a process-shared mutex") {
  expect_working(special(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED));
}

TEST(condition_with_special_recursive_mutexes,
     "conditions work with recursive and errorcheck mutexes that are robust, inheriting or shared") {
  static const int types[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
  for (int i = 0; i != 2; ++i) {
    expect_working(special(types[i], ROBUST));
    expect_working(special(types[i], PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE));
    expect_working(special(types[i], PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED));
  }
}

TEST(condition_shared_with_private_mutexes, "a process-shared condition works with private mutexes of every type") {
  static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                              PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int i = 0; i != 4; ++i) {
    all.condition = shared_condition();
    expect_working(special(types[i], PLAIN));
  }
}

TEST(condition_shared_with_special_mutexes,
     "a process-shared condition works with robust, inheriting and shared mutexes") {
  all.condition = shared_condition();
  expect_working(special(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED));
  all.condition = shared_condition();
  expect_working(special(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_SHARED));
  all.condition = shared_condition();
  expect_working(special(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED));
}

TEST(condition_keeps_a_recursive_mutex_recursive,
     "after a wait, a recursive mutex is locked once, and can be locked again") {
  all.mutex = mutex_of_type(PTHREAD_MUTEX_RECURSIVE);
  const struct timespec past = deadline(CLOCK_REALTIME, -1);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &past), ETIMEDOUT);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(result_of(trylocks, &all.mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(result_of(trylocks, &all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), EPERM);
}

static void* waits_without_owning(void* mutex) {
  const struct timespec past = deadline(CLOCK_REALTIME, -1), later = deadline(CLOCK_MONOTONIC, 60000);
  EQUAL(pthread_cond_wait(&all.condition, mutex), EPERM);
  EQUAL(pthread_cond_timedwait(&all.condition, mutex, &past), EPERM);
  EQUAL(pthread_cond_clockwait(&all.condition, mutex, CLOCK_MONOTONIC, &later), EPERM);
  return NULL;
}

// The wait is refused while the mutex is free, and while another thread owns it. The owner keeps the mutex.
static void expect_refused(pthread_mutex_t mutex) {
  waits_without_owning(&mutex);
  EQUAL(pthread_mutex_lock(&mutex), 0);
  result_of(waits_without_owning, &mutex);
  EQUAL(result_of(trylocks, &mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(&mutex), 0);
  EQUAL(result_of(trylocks, &mutex), 0);
  EQUAL(pthread_cond_signal(&all.condition), 0);  // no thread is left in the line
  EQUAL(pthread_cond_destroy(&all.condition), 0);
  EQUAL(pthread_mutex_destroy(&mutex), 0);
}

TEST(condition_needs_the_errorcheck_mutex, "a wait with an errorcheck mutex that the thread does not own is EPERM") {
  expect_refused(special(PTHREAD_MUTEX_ERRORCHECK, PLAIN));
}

TEST(condition_needs_the_recursive_mutex, "a wait with a recursive mutex that the thread does not own is EPERM") {
  expect_refused(special(PTHREAD_MUTEX_RECURSIVE, PLAIN));
}

TEST(condition_needs_the_robust_mutex, "a wait with a robust mutex that the thread does not own is EPERM") {
  expect_refused(special(PTHREAD_MUTEX_NORMAL, ROBUST));
}

TEST(condition_needs_the_special_errorcheck_mutex,
     "a wait with a shared errorcheck mutex that the thread does not own is EPERM") {
  expect_refused(special(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED));
}

TEST(condition_shared_needs_the_errorcheck_mutex,
     "a wait on a process-shared condition with an errorcheck mutex that the thread does not own is EPERM") {
  all.condition = shared_condition();
  waits_without_owning(&(pthread_mutex_t[]){special(PTHREAD_MUTEX_ERRORCHECK, PLAIN)}[0]);
}

TEST(condition_wait_keeps_the_mutex_in_use, "a mutex is in use while a thread waits on a condition with it") {
  all.mutex = mutex_of_type(PTHREAD_MUTEX_NORMAL);
  const pthread_t thread = start(waits_once, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_mutex_destroy(&all.mutex), EBUSY);
  EQUAL(pthread_cond_signal(&all.condition), 0);
  join(thread);
  EQUAL(pthread_mutex_destroy(&all.mutex), 0);
}

static void* dies_with_the_mutex(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  return unused;
}

static void* waits_for_the_dead(void* deadlines) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  const struct timespec at = deadline(CLOCK_REALTIME, 60000);
  const int result = deadlines != NULL ? pthread_cond_timedwait(&all.condition, &all.mutex, &at)
                                       : pthread_cond_wait(&all.condition, &all.mutex);
  if (result == EOWNERDEAD) EQUAL(pthread_mutex_unlock(&all.mutex), 0);  // inconsistent, so no thread can lock it again
  return (void*)(long)result;
}

static void expect_owner_dead(void* deadlines) {
  all.mutex = special(PTHREAD_MUTEX_NORMAL, ROBUST);
  const pthread_t one = start(waits_for_the_dead, deadlines), other = start(waits_for_the_dead, deadlines);
  lock_when_waiting(&all, 2);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  result_of(dies_with_the_mutex, NULL);
  const long first = (long)join(one), second = (long)join(other);
  CHECK((first == EOWNERDEAD && second == ENOTRECOVERABLE) || (second == EOWNERDEAD && first == ENOTRECOVERABLE));
  EQUAL(pthread_mutex_lock(&all.mutex), ENOTRECOVERABLE);
}

TEST(condition_robust_owner_dead,
     "a wait with a robust mutex whose owner died returns EOWNERDEAD, or ENOTRECOVERABLE if no thread repaired it") {
  expect_owner_dead(NULL);
}

TEST(condition_robust_owner_dead_timed,
     "a timed wait with a robust mutex whose owner died returns EOWNERDEAD, or ENOTRECOVERABLE") {
  expect_owner_dead(&all);
}

static void* waits_and_repairs(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  EQUAL(pthread_cond_wait(&all.condition, &all.mutex), EOWNERDEAD);
  EQUAL(pthread_mutex_consistent(&all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

TEST(condition_robust_repaired,
     "a thread that gets EOWNERDEAD from a wait owns the mutex, and can make it consistent") {
  all.mutex = special(PTHREAD_MUTEX_NORMAL, ROBUST);
  const pthread_t thread = start(waits_and_repairs, NULL);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  result_of(dies_with_the_mutex, NULL);
  join(thread);
  expect_working(all.mutex);
}

TEST(condition_robust_timeout_and_dead_owner,
     "a wait that times out while the owner of its robust mutex is dead returns EOWNERDEAD") {
  all.mutex = special(PTHREAD_MUTEX_NORMAL, ROBUST);
  all.waiting = 0;
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  const pthread_t thread = start(dies_with_the_mutex, NULL);
  int result = ETIMEDOUT;
  while (result == ETIMEDOUT) {
    const struct timespec soon = deadline(CLOCK_REALTIME, 1);
    result = pthread_cond_timedwait(&all.condition, &all.mutex, &soon);
    if (result == 0) result = ETIMEDOUT;  // the broadcast came before the deadline, but its thread had not ended yet
  }
  EQUAL(result, EOWNERDEAD);
  EQUAL(pthread_mutex_consistent(&all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);
}
