// SPDX-License-Identifier: Apache-2.0
// Conditions: cancellation of waiters.
#include "condition_waiters.h"

#include <stdatomic.h>

// How the thread that will be cancelled waits.
enum how { for_ever, timed, clocked };

struct cancelled {
  struct waiters all;
  enum how how;
  atomic_int handled;  // handlers that ran
  bool keeps;          // the handler leaves the mutex locked
};

static int wait_as(struct cancelled* waiter) {
  const struct timespec real = deadline(CLOCK_REALTIME, 60000), monotonic = deadline(CLOCK_MONOTONIC, 60000);
  if (waiter->how == timed) return pthread_cond_timedwait(&waiter->all.condition, &waiter->all.mutex, &real);
  if (waiter->how == clocked)
    return pthread_cond_clockwait(&waiter->all.condition, &waiter->all.mutex, CLOCK_MONOTONIC, &monotonic);
  return pthread_cond_wait(&waiter->all.condition, &waiter->all.mutex);
}

// The handler: this thread holds the mutex.
static void handle(void* argument) {
  struct cancelled* const waiter = argument;
  const int again = pthread_mutex_trylock(&waiter->all.mutex);  // by the owner
  CHECK(again == EBUSY || again == 0);
  if (again == 0) EQUAL(pthread_mutex_unlock(&waiter->all.mutex), 0);  // recursive
  --waiter->all.waiting;
  ++waiter->handled;
  if (!waiter->keeps) EQUAL(pthread_mutex_unlock(&waiter->all.mutex), 0);
}

static void* waits(void* argument) {
  struct cancelled* const waiter = argument;
  EQUAL(pthread_mutex_lock(&waiter->all.mutex), 0);
  ++waiter->all.waiting;
  pthread_cleanup_push(handle, waiter);
  for (;;) EQUAL(wait_as(waiter), 0);
  pthread_cleanup_pop(0);
  return NULL;
}

static void expect_cancelled(struct cancelled* waiter) {
  const pthread_t thread = start(waits, waiter);
  lock_when_waiting(&waiter->all, 1);
  EQUAL(pthread_mutex_unlock(&waiter->all.mutex), 0);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(waiter->handled, 1);
  EQUAL(waiter->all.waiting, 0);
  EQUAL(pthread_mutex_trylock(&waiter->all.mutex), 0);  // the handler has unlocked it
  EQUAL(pthread_mutex_unlock(&waiter->all.mutex), 0);
  EQUAL(pthread_cond_destroy(&waiter->all.condition), 0);
  EQUAL(pthread_mutex_destroy(&waiter->all.mutex), 0);
}

TEST(condition_cancelled_wait, "pthread_cond_wait is a cancellation point, and the mutex is held when handlers run") {
  for (int turn = 0; turn != 20; ++turn) expect_cancelled(&(struct cancelled){.all = WAITERS, .how = for_ever});
}

TEST(condition_cancelled_timedwait,
     "pthread_cond_timedwait is a cancellation point, and the mutex is held when handlers run") {
  for (int turn = 0; turn != 20; ++turn) expect_cancelled(&(struct cancelled){.all = WAITERS, .how = timed});
}

TEST(condition_cancelled_clockwait,
     "pthread_cond_clockwait is a cancellation point, and the mutex is held when handlers run") {
  for (int turn = 0; turn != 20; ++turn) expect_cancelled(&(struct cancelled){.all = WAITERS, .how = clocked});
}

TEST(condition_cancelled_with_other_mutexes,
     "handlers of a cancelled wait hold a recursive, errorcheck or adaptive mutex") {
  static const int types[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int i = 0; i != 3; ++i) {
    struct cancelled waiter = {.all = WAITERS};
    waiter.all.mutex = mutex_of_type(types[i]);
    expect_cancelled(&waiter);
  }
}

TEST(condition_cancelled_with_special_mutexes,
     "handlers of a cancelled wait hold a robust or priority-inheriting mutex") {
  for (int i = 0; i != 2; ++i) {
    pthread_mutexattr_t attributes;
    struct cancelled waiter = {.all = WAITERS};
    EQUAL(pthread_mutexattr_init(&attributes), 0);
    EQUAL(i == 0 ? pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST)
                 : pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT),
          0);
    EQUAL(pthread_mutex_init(&waiter.all.mutex, &attributes), 0);
    expect_cancelled(&waiter);
  }
}

TEST(condition_cancelled_shared, "handlers of a cancelled wait on a process-shared condition hold a private mutex") {
  pthread_condattr_t attributes;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  for (int turn = 0; turn != 9; ++turn) {
    struct cancelled waiter = {.all = WAITERS, .how = (enum how)(turn % 3)};
    EQUAL(pthread_cond_init(&waiter.all.condition, &attributes), 0);
    expect_cancelled(&waiter);
  }
}

TEST(condition_cancelled_asleep, "a cancellation wakes a thread that sleeps in a wait") {
  struct cancelled waiter = {.all = WAITERS};
  const pthread_t thread = start(waits, &waiter);
  lock_when_waiting(&waiter.all, 1);
  EQUAL(pthread_mutex_unlock(&waiter.all.mutex), 0);
  nap(15);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
}

TEST(condition_cancelled_waits_for_the_mutex,
     "handlers of a cancelled wait do not run before the thread has the mutex again") {
  struct cancelled waiter = {.all = WAITERS};
  const pthread_t thread = start(waits, &waiter);
  lock_when_waiting(&waiter.all, 1);
  EQUAL(pthread_cancel(thread), 0);
  nap(5);
  EQUAL(waiter.handled, 0);
  EQUAL(pthread_mutex_unlock(&waiter.all.mutex), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(waiter.handled, 1);
}

TEST(condition_cancelled_keeps_the_mutex, "if no handler unlocks the mutex, it stays locked after a cancelled wait") {
  struct cancelled waiter = {.all = WAITERS, .keeps = true};
  const pthread_t thread = start(waits, &waiter);
  lock_when_waiting(&waiter.all, 1);
  EQUAL(pthread_mutex_unlock(&waiter.all.mutex), 0);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(pthread_mutex_trylock(&waiter.all.mutex), EBUSY);
}

// Cancels its own thread, and then waits; if `past`, the deadline has already passed.
static void* waits_with_a_pending_cancellation(void* argument) {
  struct cancelled* const waiter = argument;
  const struct timespec past = deadline(CLOCK_REALTIME, -1);
  EQUAL(pthread_mutex_lock(&waiter->all.mutex), 0);
  ++waiter->all.waiting;
  EQUAL(pthread_cancel(pthread_self()), 0);
  pthread_cleanup_push(handle, waiter);
  if (waiter->all.go != 0) pthread_cond_timedwait(&waiter->all.condition, &waiter->all.mutex, &past);
  else wait_as(waiter);
  pthread_cleanup_pop(0);
  return NULL;
}

static void expect_pending_acted_upon(struct cancelled waiter) {
  CHECK(join(start(waits_with_a_pending_cancellation, &waiter)) == PTHREAD_CANCELED);
  EQUAL(waiter.handled, 1);
}

TEST(condition_pending_cancellation, "a cancellation that is pending when a thread begins to wait is acted upon") {
  expect_pending_acted_upon((struct cancelled){.all = WAITERS, .how = for_ever});
  expect_pending_acted_upon((struct cancelled){.all = WAITERS, .how = timed});
  expect_pending_acted_upon((struct cancelled){.all = WAITERS, .how = clocked});
}

TEST(condition_pending_cancellation_past_deadline,
     "a pending cancellation is acted upon even if the deadline has passed") {
  struct cancelled waiter = {.all = WAITERS};
  waiter.all.go = 1;
  expect_pending_acted_upon(waiter);
}

static void* waits_disabled(void* argument) {
  struct waiters* const all = argument;
  int before;
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before), 0);
  EQUAL(before, PTHREAD_CANCEL_ENABLE);
  waits_to_go(all);
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before), 0);
  EQUAL(before, PTHREAD_CANCEL_DISABLE);
  pthread_testcancel();
  return NULL;
}

TEST(condition_cancellation_disabled,
     "a thread that has disabled cancellation keeps waiting, and is cancelled when it enables cancellation") {
  struct waiters all = WAITERS;
  const pthread_t thread = start(waits_disabled, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cancel(thread), 0);
  nap(5);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(all.waiting, 1);
  all.go = 1;
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(all.returned, 1);
}

static void* times_out_disabled(void* argument) {
  struct waiters* const all = argument;
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
  EQUAL(pthread_cancel(pthread_self()), 0);
  EQUAL(pthread_mutex_lock(&all->mutex), 0);
  const struct timespec soon = deadline(CLOCK_REALTIME, 3);
  EQUAL(pthread_cond_timedwait(&all->condition, &all->mutex, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon));
  return NULL;
}

TEST(condition_cancellation_disabled_timeout,
     "while cancellation is disabled, a pending cancellation does not shorten a timed wait") {
  struct waiters all = WAITERS;
  CHECK(join(start(times_out_disabled, &all)) == NULL);
}

static void* cares_for_its_cancellation_type(void* argument) {
  struct waiters* const all = argument;
  const int given = all->go;
  int type;
  EQUAL(pthread_mutex_lock(&all->mutex), 0);
  EQUAL(pthread_setcanceltype(given, NULL), 0);
  for (int i = 0; i != 3; ++i) {
    const struct timespec at = deadline(CLOCK_REALTIME, 2 * i - 1);
    EQUAL(pthread_cond_timedwait(&all->condition, &all->mutex, &at), ETIMEDOUT);
    EQUAL(pthread_setcanceltype(given, &type), 0);
    EQUAL(type, given);
  }
  return NULL;
}

TEST(condition_keeps_the_cancellation_type, "a wait does not change the cancellation type of the thread") {
  struct waiters all = WAITERS;
  all.go = PTHREAD_CANCEL_DEFERRED;
  join(start(cares_for_its_cancellation_type, &all));
  struct waiters others = WAITERS;
  others.go = PTHREAD_CANCEL_ASYNCHRONOUS;
  join(start(cares_for_its_cancellation_type, &others));
}
