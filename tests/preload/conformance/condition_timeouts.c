// SPDX-License-Identifier: Apache-2.0
// Conditions: timeouts and signals at the same time. A thread that times out takes no signal from another waiter.
#include "condition_waiters.h"

#include <stdatomic.h>

static struct waiters all = WAITERS;

static struct timespec soon(int microseconds) {
  struct timespec at = deadline(CLOCK_MONOTONIC, 0);
  at.tv_nsec += microseconds * 1000;
  if (at.tv_nsec >= 1000000000) {
    at.tv_nsec -= 1000000000;
    ++at.tv_sec;
  }
  return at;
}

static void* waits_briefly(void* microseconds) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  const struct timespec at = soon((int)(long)microseconds);
  const int result = pthread_cond_clockwait(&all.condition, &all.mutex, CLOCK_MONOTONIC, &at);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return (void*)(long)result;
}

TEST(condition_timeout_takes_no_signal,
     "if one of two waiters times out as a signal comes, the other waiter gets the signal") {
  for (int turn = 0; turn != 60; ++turn) {
    all = (struct waiters)WAITERS;
    const pthread_t timed = start(waits_briefly, (void*)(long)(turn % 20 * 20)), other = start(waits_once, &all);
    lock_when_waiting(&all, 2);
    EQUAL(pthread_cond_signal(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    const long result = (long)join(timed);
    if (result == 0) EQUAL(pthread_cond_signal(&all.condition), 0);  // the thread that waited briefly took it
    else EQUAL(result, ETIMEDOUT);
    join(other);
  }
}

TEST(condition_timeout_takes_no_signal_outside,
     "if one of two waiters times out as a signal comes, without the mutex, the other waiter gets the signal") {
  for (int turn = 0; turn != 60; ++turn) {
    all = (struct waiters)WAITERS;
    const pthread_t timed = start(waits_briefly, (void*)(long)(turn % 20 * 30)), other = start(waits_once, &all);
    lock_when_waiting(&all, 2);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_signal(&all.condition), 0);
    const long result = (long)join(timed);
    if (result == 0) EQUAL(pthread_cond_signal(&all.condition), 0);
    else EQUAL(result, ETIMEDOUT);
    join(other);
  }
}

// Takes `go` one by one, in waits that mostly time out.
static atomic_bool done;
static int taken;

static void* takes(void* microseconds) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  while (!done || all.go != 0) {
    if (all.go != 0) {
      --all.go;
      ++taken;
      continue;
    }
    const struct timespec at = soon((int)(long)microseconds);
    const int result = pthread_cond_clockwait(&all.condition, &all.mutex, CLOCK_MONOTONIC, &at);
    CHECK(result == 0 || result == ETIMEDOUT);
    EQUAL(pthread_mutex_trylock(&all.mutex), EBUSY);
  }
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return NULL;
}

TEST(condition_timeouts_and_signals,
     "when waits time out and signals come all the time, waiters take everything that was announced") {
  enum { threads = 3, items = 300 };
  pthread_t takers[threads];
  for (int i = 0; i != threads; ++i) takers[i] = start(takes, (void*)(long)(20 + 150 * i));
  for (int i = 0; i != items; ++i) {
    EQUAL(pthread_mutex_lock(&all.mutex), 0);
    ++all.go;
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_signal(&all.condition), 0);
  }
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  done = true;
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != threads; ++i) join(takers[i]);
  EQUAL(taken, items);
}

TEST(condition_timeouts_among_waiters,
     "waiters that leave the middle of the line at their deadline leave the others in their places") {
  enum { count = 9 };
  pthread_t threads[count];
  for (int i = 0; i != count; ++i) {
    threads[i] = i % 3 == 1 ? start(waits_briefly, (void*)(long)(200 * i)) : start(waits_once, &all);
    lock_when_waiting(&all, i + 1);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  }
  for (int i = 1; i < count; i += 3) EQUAL((long)join(threads[i]), ETIMEDOUT);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(all.returned, 0);
  for (int i = 0; i != count / 3 * 2; ++i) EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != count; ++i)
    if (i % 3 != 1) join(threads[i]);
}

TEST(condition_timeouts_all_at_once,
     "many waiters with the same deadline all time out, and the condition can be destroyed and reused") {
  for (int turn = 0; turn != 3; ++turn) {
    pthread_t threads[10];
    for (int i = 0; i != 10; ++i) threads[i] = start(waits_briefly, (void*)2000L);
    for (int i = 0; i != 10; ++i) EQUAL((long)join(threads[i]), ETIMEDOUT);
    EQUAL(pthread_cond_destroy(&all.condition), 0);
    EQUAL(pthread_cond_init(&all.condition, NULL), 0);
  }
  all.waiting = 0;
  const pthread_t thread = start(waits_once, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);
}

TEST(condition_broadcast_at_the_deadline, "a broadcast at the deadline of some waiters wakes all the others") {
  for (int turn = 0; turn != 20; ++turn) {
    all = (struct waiters)WAITERS;
    pthread_t threads[6];
    for (int i = 0; i != 6; ++i)
      threads[i] = i % 2 != 0 ? start(waits_briefly, (void*)(long)(turn * 30)) : start(waits_once, &all);
    lock_when_waiting(&all, 6);
    EQUAL(pthread_cond_broadcast(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    for (int i = 0; i != 6; ++i) {
      const long result = (long)join(threads[i]);
      CHECK(result == 0 || (i % 2 != 0 && result == ETIMEDOUT));
    }
    EQUAL(pthread_cond_destroy(&all.condition), 0);
  }
}

static void* waits_in_slices(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  while (all.go == 0) {
    const struct timespec at = soon(100);
    const int result = pthread_cond_clockwait(&all.condition, &all.mutex, CLOCK_MONOTONIC, &at);
    CHECK(result == 0 || result == ETIMEDOUT);
  }
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

TEST(condition_waits_in_slices, "a thread that waits in short slices sees what was announced in between") {
  const pthread_t thread = start(waits_in_slices, NULL);
  nap(5);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  all.go = 1;
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);  // without a signal: the thread sees it after the next slice
}
