// SPDX-License-Identifier: Apache-2.0
// Conditions: signals to a waiting thread. The handler runs, and the wait continues, or returns 0 spuriously.
#include "condition_waiters.h"

#include <stdatomic.h>

static atomic_int handled;
static struct waiters all = WAITERS;
static sem_t handled_one;

static void handle(int number) {
  (void)number;
  ++handled;
}

static void install(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
}

// Sends a signal, and returns once its handler has run.
static void interrupt(pthread_t thread) {
  const int before = handled;
  EQUAL(pthread_kill(thread, SIGUSR1), 0);
  while (handled == before) sched_yield();
}

static void* waits_until_go_timed(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  const struct timespec at = deadline(CLOCK_REALTIME, 60000);
  while (all.go == 0) EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &at), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

static void* waits_until_go_clocked(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  const struct timespec at = deadline(CLOCK_MONOTONIC, 60000);
  while (all.go == 0) EQUAL(pthread_cond_clockwait(&all.condition, &all.mutex, CLOCK_MONOTONIC, &at), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

static void expect_undisturbed(void* (*function)(void*), int flags) {
  install(handle, flags);
  const pthread_t thread = start(function, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != 30; ++i) {
    interrupt(thread);
    if (i % 4 == 0) nap(0);
  }
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(all.waiting, 1);
  all.go = 1;
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);
}

TEST(condition_wait_interrupted, "handlers run during pthread_cond_wait, which never returns EINTR") {
  expect_undisturbed(waits_to_go, 0);
}

TEST(condition_wait_interrupted_restart, "handlers with SA_RESTART run during pthread_cond_wait") {
  expect_undisturbed(waits_to_go, SA_RESTART);
}

TEST(condition_timedwait_interrupted, "handlers run during pthread_cond_timedwait, which never returns EINTR") {
  expect_undisturbed(waits_until_go_timed, 0);
}

TEST(condition_clockwait_interrupted, "handlers run during pthread_cond_clockwait, which never returns EINTR") {
  expect_undisturbed(waits_until_go_clocked, 0);
}

static void* waits_to_time_out(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  const struct timespec at = deadline(CLOCK_REALTIME, 20);
  int result;
  while ((result = pthread_cond_timedwait(&all.condition, &all.mutex, &at)) == 0) continue;
  EQUAL(result, ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, at));
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

TEST(condition_interrupted_deadline,
     "a timed wait ends at its deadline, and not before, however often signals interrupt it") {
  install(handle, 0);
  const pthread_t thread = start(waits_to_time_out, NULL);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  while (!has_ended(thread)) {
    pthread_kill(thread, SIGUSR1);
    nap(0);
  }
}

static void post(int number) {
  (void)number;
  const int before = errno;
  ++handled;
  EQUAL(sem_post(&handled_one), 0);
  errno = before;
}

TEST(condition_handler_posts, "a handler that runs during a wait may post a semaphore") {
  install(post, 0);
  EQUAL(sem_init(&handled_one, 0, 0), 0);
  const pthread_t thread = start(waits_to_go, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != 20; ++i) {
    EQUAL(pthread_kill(thread, SIGUSR1), 0);
    EQUAL(sem_wait(&handled_one), 0);
  }
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  all.go = 1;
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);
}

TEST(condition_signals_to_all, "interrupted waiters lose no signal and no broadcast") {
  install(handle, 0);
  pthread_t threads[4];
  for (int i = 0; i != 4; ++i) threads[i] = start(waits_to_go, &all);
  for (int i = 0; i != 4; ++i) {
    lock_when_waiting(&all, 4 - i);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    for (int j = 0; j != 4; ++j) pthread_kill(threads[j], SIGUSR1);  // the thread may have ended, but is not joined
    EQUAL(pthread_mutex_lock(&all.mutex), 0);
    ++all.go;
    EQUAL(pthread_cond_signal(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  }
  for (int i = 0; i != 4; ++i) join(threads[i]);
}

// A handler that waits on another condition of its own.
static struct waiters inner = WAITERS;

static void wait_inside(int number) {
  (void)number;
  waits_to_go(&inner);
  ++handled;
}

TEST(condition_handler_waits,
     "a handler may wait on another condition if it does not interrupt a lock operation of its thread") {
  install(wait_inside, 0);
  const pthread_t thread = start(waits_to_go, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  nap(15);  // until it sleeps
  EQUAL(pthread_kill(thread, SIGUSR1), 0);
  lock_when_waiting(&inner, 1);
  inner.go = 1;
  EQUAL(pthread_cond_signal(&inner.condition), 0);
  EQUAL(pthread_mutex_unlock(&inner.mutex), 0);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  all.go = 1;
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);
  EQUAL(handled, 1);
}
