// SPDX-License-Identifier: Apache-2.0
// Signals to threads that wait for a mutex or own it, and the cancellation and end of such threads.
#include "kinds.h"

#include <stdatomic.h>

static atomic_int handled;

static void handle(int number) {
  (void)number;
  ++handled;
}

static void handle_signals(int flags) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
  EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
}

static void interrupt(pthread_t thread) {
  const int before = handled;
  EQUAL(pthread_kill(thread, SIGUSR1), 0);
  while (handled == before) nap(0);
}

FOR_EVERY_MUTEX(mutex_lock_interrupted,
                "a signal handler does not end pthread_mutex_lock, which continues to wait and never returns EINTR") {
  handle_signals(0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  for (int i = 0; i != 3; ++i) interrupt(thread);
  CHECK(!has_ended(thread));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 0);
}

FOR_EACH_KIND(mutex_timed_interrupted, "a signal handler does not end a timed lock, which waits until its deadline") {
  handle_signals(SA_RESTART);
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct timespec soon = deadline(CLOCK_REALTIME, 30);
  const pthread_t thread = start(waits_until, &soon);
  until_blocked(1);
  pthread_kill(thread, SIGUSR1);
  EQUAL((long)join(thread), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon));
}

FOR_EACH_KIND(mutex_timed_interrupted_in_time,
              "a timed lock that signals have interrupted gets the mutex when the owner unlocks it") {
  handle_signals(0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct timespec later = deadline(CLOCK_REALTIME, 60000);
  const pthread_t thread = start(waits_until, &later);
  until_blocked(1);
  for (int i = 0; i != 3; ++i) interrupt(thread);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 0);
}

static sem_t asked;

static void post(int number) {
  (void)number;
  sem_post(&asked);
}

FOR_EACH_KIND(mutex_handler_posts,
              "a handler in a thread that waits for a mutex may post a semaphore for which the owner waits") {
  struct sigaction action = {.sa_handler = post};
  EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  EQUAL(sem_init(&asked, 0, 0), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  EQUAL(pthread_kill(thread, SIGUSR1), 0);
  while (sem_wait(&asked) != 0) EQUAL(errno, EINTR);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
}

// --- cancellation ---

static void* locks_cancelled(void* unused) {
  (void)unused;
  EQUAL(pthread_cancel(pthread_self()), 0);
  const struct timespec past = {1, 0};
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_timedlock(mutex, &past), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  handled = 1;
  pthread_testcancel();
  return NULL;
}

FOR_EVERY_MUTEX(mutex_no_cancellation_point, "no function of mutexes is a cancellation point") {
  CHECK(join(start(locks_cancelled, NULL)) == PTHREAD_CANCELED);
  EQUAL(handled, 1);
}

static void* passes_then_cancelled(void* at) {
  EQUAL((long)(at ? waits_until(at) : passes(NULL)), 0);
  handled = 1;
  pthread_testcancel();
  return NULL;
}

static void cancel_while_it_waits(struct timespec* at) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes_then_cancelled, at);
  until_blocked(1);
  EQUAL(pthread_cancel(thread), 0);
  nap(2);
  CHECK(!has_ended(thread));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(handled, 1);
  EQUAL(pthread_mutex_trylock(mutex), 0);
}

FOR_EVERY_MUTEX(mutex_cancelled_while_waiting,
                "a thread that is cancelled while it waits for the mutex gets the mutex nevertheless") {
  cancel_while_it_waits(NULL);
}

FOR_EACH_KIND(mutex_cancelled_in_timed_lock,
              "a thread that is cancelled during a timed lock gets the mutex nevertheless") {
  struct timespec later = deadline(CLOCK_REALTIME, 60000);
  cancel_while_it_waits(&later);
}

static void* vanishes(void* at) {
  EQUAL(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
  return at ? waits_until(at) : passes(NULL);
}

static void cancel_anywhere(struct timespec* at) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t before = start(passes, NULL), thread = start(vanishes, at), behind = start(passes, NULL);
  until_blocked(3);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(before), 0);
  EQUAL((long)join(behind), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
}

FOR_EACH_KIND(
    mutex_cancelled_anywhere,
    "a waiter with PTHREAD_CANCEL_ASYNCHRONOUS ends when it is cancelled, and other waiters are not affected") {
  cancel_anywhere(NULL);
}

FOR_EACH_KIND(
    mutex_cancelled_anywhere_timed,
    "a timed waiter with PTHREAD_CANCEL_ASYNCHRONOUS ends when it is cancelled, and other waiters are not affected") {
  struct timespec later = deadline(CLOCK_REALTIME, 60000);
  cancel_anywhere(&later);
}

static void unlock_at_end(void* unused) {
  (void)unused;
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static void* cancelled_as_owner(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  pthread_cleanup_push(unlock_at_end, NULL);
  will_block();
  for (;;) pause();
  pthread_cleanup_pop(0);
  return unused;
}

FOR_EACH_KIND(mutex_unlocked_by_cleanup,
              "a cancelled owner unlocks in a cleanup handler, and the waiter gets the mutex") {
  const pthread_t thread = start(cancelled_as_owner, NULL);
  until_blocked(1);
  const pthread_t other = start(passes, NULL);
  until_blocked(1);
  EQUAL(pthread_cancel(thread), 0);
  EQUAL((long)join(other), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
}

// --- the end of a thread ---

static void* locks_and_exits(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  pthread_exit(unused);
}

FOR_EACH_KIND(mutex_outlives_its_owner,
              "the mutex stays locked when its owner ends: other threads find it busy, or wait") {
  join(start(locks_and_exits, NULL));
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  struct timespec soon = deadline(CLOCK_REALTIME, 10);
  EQUAL(pthread_mutex_timedlock(mutex, &soon), ETIMEDOUT);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  CHECK(!has_ended(thread));
}

FOR_EACH_KIND(mutex_many_ended_owners,
              "mutexes that ended threads have left locked do not affect the mutexes that other threads use") {
  static pthread_mutex_t left[50];
  pthread_mutex_t* const used = mutex;
  for (int i = 0; i != 50; ++i) {
    left[i] = *used;  // a copy of an unused mutex
    mutex = &left[i];
    join(start(locks_and_exits, NULL));
  }
  for (int i = 0; i != 50; ++i) EQUAL(pthread_mutex_trylock(&left[i]), EBUSY);
  mutex = used;
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 0);
}

static void* leaves_errno(void* at) {
  errno = 4711;
  pthread_mutex_trylock(mutex);
  pthread_mutex_timedlock(mutex, at);
  passes(NULL);
  return (void*)(long)errno;
}

FOR_EACH_KIND(mutex_leaves_errno,
              "the functions of mutexes return errors, and do not change errno, even if they sleep") {
  handle_signals(0);
  struct timespec soon = deadline(CLOCK_REALTIME, 5);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(leaves_errno, &soon);
  until_blocked(1);
  pthread_kill(thread, SIGUSR1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 4711);
}
