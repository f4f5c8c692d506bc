// SPDX-License-Identifier: Apache-2.0
// Threads that start and end, and the code that runs at their end.
#include "kinds.h"

#include <limits.h>
#include <stdatomic.h>

static long count;

static void* increments(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ++count;
  EQUAL(pthread_mutex_unlock(mutex), 0);
  return unused;
}

static void* increments_often(void* times) {
  for (long i = 0; i != (long)times; ++i) increments(NULL);
  return NULL;
}

TEST(threads_ten_thousand, "ten thousand threads, a few at a time, each lock a mutex once") {
  pthread_t threads[4];
  for (int i = 0; i != 2500; ++i) {
    for (int j = 0; j != 4; ++j) threads[j] = start(increments, NULL);
    for (int j = 0; j != 4; ++j) join(threads[j]);
  }
  EQUAL(count, 10000);
}

TEST(threads_two_hundred_wait, "two hundred threads wait for one mutex, and all get it") {
  pthread_t threads[200];
  int passed = 0;
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != turns(200); ++i) threads[i] = start(passes, &passed);
  until_blocked((int)turns(200));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != turns(200); ++i) join(threads[i]);
  EQUAL(passed, turns(200));
}

TEST(threads_detached, "detached threads may lock, too") {
  pthread_attr_t attributes;
  EQUAL(pthread_attr_init(&attributes), 0);
  EQUAL(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
  for (int i = 0; i != 20; ++i) {
    pthread_t thread;
    EQUAL(pthread_create(&thread, &attributes, increments, NULL), 0);
  }
  for (long seen = 0; seen != 20; nap(0)) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    seen = count;
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static bool announced;

static void* waits_for_all(void* unused) {
  struct timespec soon = deadline(CLOCK_REALTIME, 2);
  pthread_mutex_timedlock(mutex, &soon);
  sem_timedwait(&semaphore, &soon);
  passes(NULL);
  EQUAL(pthread_mutex_lock(mutex), 0);
  will_block();
  while (!announced) EQUAL(pthread_cond_wait(&condition, mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  will_block();
  EQUAL(sem_wait(&semaphore), 0);
  return unused;
}

TEST(threads_with_small_stacks,
     "a thread with a stack of the minimum size can wait for a mutex, a condition and a semaphore") {
  pthread_attr_t attributes;
  pthread_t thread;
  EQUAL(pthread_attr_init(&attributes), 0);
  EQUAL(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_create(&thread, &attributes, waits_for_all, NULL), 0);
  until_blocked(1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  until_blocked(1);
  EQUAL(pthread_mutex_lock(mutex), 0);
  announced = true;
  EQUAL(pthread_cond_signal(&condition), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  until_blocked(1);
  EQUAL(sem_post(&semaphore), 0);
  join(thread);
}

TEST(threads_on_one_processor, "threads that share one processor all make progress") {
  cpu_set_t cpus;
  pthread_t threads[4];
  EQUAL(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  EQUAL(sched_setaffinity(0, sizeof cpus, &cpus), 0);
  for (int i = 0; i != 4; ++i) threads[i] = start(increments_often, (void*)turns(100));
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(count, 4 * turns(100));
}

// --- destructors of thread-specific data ---

static pthread_key_t key;

static void lock_at_end(void* rounds) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ++count;
  EQUAL(pthread_mutex_unlock(mutex), 0);
  // This causes another round.
  if (rounds != (void*)1) EQUAL(pthread_setspecific(key, (void*)((long)rounds - 1)), 0);
}

static void* has_specific_data(void* rounds) {
  EQUAL(pthread_setspecific(key, rounds), 0);
  return NULL;
}

FOR_EACH_KIND(threads_key_destructor, "the destructor of a key may lock, in a thread that has never locked before") {
  EQUAL(pthread_key_create(&key, lock_at_end), 0);
  for (int i = 0; i != 10; ++i) join(start(has_specific_data, (void*)1));
  EQUAL(count, 10);
}

FOR_EACH_KIND(threads_key_destructor_rounds, "destructors may lock in each of their rounds, including the last") {
  EQUAL(pthread_key_create(&key, lock_at_end), 0);
  pthread_t threads[4];
  for (int i = 0; i != 4; ++i) threads[i] = start(has_specific_data, (void*)PTHREAD_DESTRUCTOR_ITERATIONS);
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(count, 4 * PTHREAD_DESTRUCTOR_ITERATIONS);
}

FOR_EACH_KIND(threads_without_keys,
              "a program that has created the maximum number of keys can lock, and threads can wait") {
  while (pthread_key_create(&key, NULL) == 0) continue;
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t one = start(passes, NULL), other = start(passes, NULL);
  until_blocked(2);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(one);
  join(other);
}

static void unlock_at_end(void* held) { EQUAL(pthread_mutex_unlock(held), 0); }

static void* locks_for_destructor(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_setspecific(key, mutex), 0);
  return unused;
}

FOR_EACH_KIND(threads_unlock_in_destructor, "a mutex that the thread still holds can be unlocked in a destructor") {
  EQUAL(pthread_key_create(&key, unlock_at_end), 0);
  for (int i = 0; i != 10; ++i) {
    join(start(locks_for_destructor, NULL));
    EQUAL(result_of(tries, NULL), 0);
  }
}

static void wait_at_end(void* unused) {
  (void)unused;
  passes(NULL);
}

static void* ends(void* unused) {
  EQUAL(pthread_setspecific(key, "once"), 0);
  return unused;
}

FOR_EACH_KIND(threads_wait_in_destructor, "a destructor may wait for a mutex that another thread holds") {
  EQUAL(pthread_key_create(&key, wait_at_end), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t one = start(ends, NULL), other = start(ends, NULL);
  until_blocked(2);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(one);
  join(other);
}

static void lock_when_cancelled(void* unused) {
  (void)unused;
  increments(NULL);
}

static void* cancelled(void* unused) {
  pthread_cleanup_push(lock_when_cancelled, NULL);
  will_block();
  for (;;) pause();
  pthread_cleanup_pop(0);
  return unused;
}

FOR_EACH_KIND(threads_cleanup_locks, "the cleanup handler of a cancelled thread may lock and unlock") {
  const pthread_t thread = start(cancelled, NULL);
  until_blocked(1);
  EQUAL(pthread_cancel(thread), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(count, 1);
  EQUAL(pthread_mutex_trylock(mutex), 0);
}

static void* exits_process(void* first) {
  join(*(pthread_t*)first);
  increments(NULL);
  exit(count == 1 ? 0 : 1);
}

TEST(threads_main_exits,
     "after the first thread has ended by pthread_exit while it held a mutex, the others continue") {
  static pthread_t self;
  static pthread_mutex_t in_hand = PTHREAD_MUTEX_INITIALIZER;
  self = pthread_self();
  EQUAL(pthread_mutex_lock(&in_hand), 0);
  start(exits_process, &self);
  pthread_exit(NULL);
}
