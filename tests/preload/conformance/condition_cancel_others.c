// SPDX-License-Identifier: Apache-2.0
// Conditions: cancelled threads beside other waiters, and what their handlers may do.
#include "condition_waiters.h"

static struct waiters all = WAITERS;

static void leave(void* unlock) {
  --all.waiting;
  if (unlock != NULL) EQUAL(pthread_mutex_unlock(&all.mutex), 0);
}

static void* waits_for_cancellation(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  pthread_cleanup_push(leave, &all);
  EQUAL(pthread_cond_wait(&all.condition, &all.mutex), 0);
  pthread_cleanup_pop(1);
  return unused;
}

static void expect_no_signal_lost(bool cancel_first, bool outside) {
  for (int turn = 0; turn != 60; ++turn) {
    all = (struct waiters)WAITERS;
    const pthread_t cancelled = start(waits_for_cancellation, NULL);
    lock_when_waiting(&all, 1);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    const pthread_t other = start(waits_once, &all);
    lock_when_waiting(&all, 2);
    if (turn % 3 == 0) {  // let the threads fall asleep first
      EQUAL(pthread_mutex_unlock(&all.mutex), 0);
      nap(0);
      EQUAL(pthread_mutex_lock(&all.mutex), 0);
    }
    if (outside) EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    if (cancel_first) EQUAL(pthread_cancel(cancelled), 0);
    EQUAL(pthread_cond_signal(&all.condition), 0);
    if (!cancel_first) EQUAL(pthread_cancel(cancelled), 0);
    if (!outside) EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    // If the cancelled thread returns, it took the signal.
    if (join(cancelled) == NULL) EQUAL(pthread_cond_signal(&all.condition), 0);
    join(other);
    EQUAL(pthread_cond_destroy(&all.condition), 0);
  }
}

TEST(condition_cancelled_takes_no_signal,
     "a cancelled waiter takes no signal if another thread waits: cancelled, then signalled") {
  expect_no_signal_lost(true, false);
}

TEST(condition_cancelled_takes_no_signal_after,
     "a cancelled waiter takes no signal if another thread waits: signalled, then cancelled") {
  expect_no_signal_lost(false, false);
}

TEST(condition_cancelled_takes_no_signal_outside,
     "a cancelled waiter takes no signal if another thread waits: without the mutex") {
  expect_no_signal_lost(true, true);
  expect_no_signal_lost(false, true);
}

TEST(condition_cancelled_in_the_middle,
     "waiters that are cancelled in the middle of the line leave the others in their places") {
  enum { count = 9 };
  pthread_t threads[count];
  for (int i = 0; i != count; ++i) {
    threads[i] = start(i % 3 == 1 ? waits_for_cancellation : waits_once, &all);
    lock_when_waiting(&all, i + 1);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  }
  for (int i = 1; i < count; i += 3) EQUAL(pthread_cancel(threads[i]), 0);
  for (int i = 1; i < count; i += 3) CHECK(join(threads[i]) == PTHREAD_CANCELED);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(all.returned, 0);
  for (int i = 0; i != count / 3 * 2; ++i) EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != count; ++i)
    if (i % 3 != 1) join(threads[i]);
}

TEST(condition_cancelled_all_at_once,
     "many waiters can be cancelled at once: their handlers run one at a time, and hold the mutex") {
  enum { count = 10 };
  pthread_t threads[count];
  for (int i = 0; i != count; ++i) threads[i] = start(waits_for_cancellation, NULL);
  lock_when_waiting(&all, count);
  for (int i = 0; i != count; ++i) EQUAL(pthread_cancel(threads[i]), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != count; ++i) CHECK(join(threads[i]) == PTHREAD_CANCELED);
  EQUAL(all.waiting, 0);
  EQUAL(pthread_cond_destroy(&all.condition), 0);
  EQUAL(pthread_mutex_destroy(&all.mutex), 0);
}

TEST(condition_broadcast_and_cancellation, "a broadcast among cancellations wakes all waiters that are not cancelled") {
  for (int turn = 0; turn != 15; ++turn) {
    pthread_t threads[6];
    all = (struct waiters)WAITERS;
    for (int i = 0; i != 6; ++i) threads[i] = start(i % 2 != 0 ? waits_for_cancellation : waits_once, &all);
    lock_when_waiting(&all, 6);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cancel(threads[1]), 0);
    EQUAL(pthread_cond_broadcast(&all.condition), 0);
    EQUAL(pthread_cancel(threads[3]), 0);
    EQUAL(pthread_cancel(threads[5]), 0);
    for (int i = 0; i != 6; ++i) join(threads[i]);
    EQUAL(pthread_cond_destroy(&all.condition), 0);
  }
}

TEST(condition_cancelled_and_destroyed,
     "once all waiters have been cancelled and joined, the condition's memory can be reused") {
  for (int turn = 0; turn != 20; ++turn) {
    all = (struct waiters)WAITERS;
    const pthread_t thread = start(waits_for_cancellation, NULL);
    lock_when_waiting(&all, 1);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cancel(thread), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
    EQUAL(pthread_cond_destroy(&all.condition), 0);
    memset(&all.condition, 0xFF, sizeof all.condition);
  }
}

static int order[4], steps;

static void step(void* number) { order[steps++] = (int)(long)number; }
static void step_and_unlock(void* number) {
  step(number);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
}

static void* waits_in_nested_handlers(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  pthread_cleanup_push(step_and_unlock, (void*)3L);
  pthread_cleanup_push(step, (void*)2L);
  pthread_cleanup_push(step, (void*)1L);
  ++all.waiting;
  for (;;) pthread_cond_wait(&all.condition, &all.mutex);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return unused;
}

TEST(condition_cancelled_in_nested_handlers, "all handlers of a cancelled thread run, each once, the innermost first") {
  const pthread_t thread = start(waits_in_nested_handlers, NULL);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(steps, 3);
  for (int i = 0; i != 3; ++i) EQUAL(order[i], i + 1);
}

static pthread_key_t key;

static void end(void* unused) { step(unused != NULL ? (void*)9L : NULL); }

static void* waits_with_a_key(void* unused) {
  EQUAL(pthread_setspecific(key, &all), 0);
  return waits_in_nested_handlers(unused);
}

TEST(condition_cancelled_with_thread_specific_data,
     "destructors of thread-specific data run after the handlers of a cancelled wait") {
  EQUAL(pthread_key_create(&key, end), 0);
  const pthread_t thread = start(waits_with_a_key, NULL);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(steps, 4);
  EQUAL(order[3], 9);
}

static void wakes_the_others(void* unused) {
  (void)unused;
  all.go = 3;
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
}

static void* waits_to_wake_the_others(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  pthread_cleanup_push(wakes_the_others, NULL);
  for (;;) pthread_cond_wait(&all.condition, &all.mutex);
  pthread_cleanup_pop(0);
  return unused;
}

TEST(condition_handler_signals, "a handler of a cancelled wait may signal the same condition") {
  pthread_t others[3];
  for (int i = 0; i != 3; ++i) others[i] = start(waits_to_go, &all);
  const pthread_t thread = start(waits_to_wake_the_others, NULL);
  lock_when_waiting(&all, 4);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  for (int i = 0; i != 3; ++i) join(others[i]);
}

// A waiter that is signalled and cancelled either returns, or ends. No other thread waits.
static void* waits_and_tests(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  pthread_cleanup_push(leave, &all);
  EQUAL(pthread_cond_wait(&all.condition, &all.mutex), 0);
  pthread_cleanup_pop(1);
  pthread_testcancel();
  return unused;
}

TEST(condition_cancellation_is_not_forgotten,
     "a cancellation that does not end a wait, because a signal does, is still pending") {
  for (int turn = 0; turn != 30; ++turn) {
    all = (struct waiters)WAITERS;
    const pthread_t thread = start(waits_and_tests, NULL);
    lock_when_waiting(&all, 1);
    EQUAL(pthread_cond_signal(&all.condition), 0);
    EQUAL(pthread_cancel(thread), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
  }
}
