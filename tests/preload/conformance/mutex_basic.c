// SPDX-License-Identifier: Apache-2.0
// A mutex has one owner at a time, and the next owner sees what the previous owner did.
#include "kinds.h"

#include <stdatomic.h>

static long count;

static void increment_and_unlock(long turn) {
  const long before = count;
  if (turn % 16 == 0) sched_yield();  // so that other threads enter here if they can
  count = before + 1;
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static void* increments(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    increment_and_unlock(i);
  }
  return NULL;
}

FOR_EVERY_MUTEX(mutex_excludes, "only one of 8 threads owns the mutex at a time") {
  pthread_t threads[8];
  const long each = turns(200);
  for (int i = 0; i != 8; ++i) threads[i] = start(increments, (void*)each);
  for (int i = 0; i != 8; ++i) join(threads[i]);
  EQUAL(count, 8 * each);
}

// Two threads lock, and two threads acquire the mutex in another way.
static void expect_all_counted(void* (*otherwise)(void*), long each) {
  pthread_t threads[4];
  for (int i = 0; i != 4; ++i) threads[i] = start(i % 2 ? otherwise : increments, (void*)each);
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(count, 4 * each);
}

static void* increments_by_trying(void* times) {
  for (long i = 0; i != (long)times;) {
    if (pthread_mutex_trylock(mutex) != 0) {
      sched_yield();
      continue;
    }
    increment_and_unlock(i);
    ++i;
  }
  return NULL;
}

FOR_EACH_KIND(mutex_try_excludes,
              "only one thread owns the mutex at a time, even if some threads try and others lock") {
  expect_all_counted(increments_by_trying, turns(200));
}

static void* increments_with_deadlines(void* times) {
  for (long i = 0; i != (long)times;) {
    const struct timespec soon = deadline(CLOCK_REALTIME, i % 2);
    const int result = pthread_mutex_timedlock(mutex, &soon);
    if (result == ETIMEDOUT) {
      sched_yield();
      continue;
    }
    EQUAL(result, 0);
    increment_and_unlock(i);
    ++i;
  }
  return NULL;
}

FOR_EACH_KIND(mutex_timed_excludes,
              "only one thread owns the mutex at a time, even if some threads give up and return") {
  expect_all_counted(increments_with_deadlines, turns(100));
}

static long words[64];

static void* rewrites(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    for (int place = 0; place != 64; ++place) EQUAL(words[place], words[0]);
    for (int place = 0; place != 64; ++place) ++words[place];
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
  return NULL;
}

FOR_EACH_KIND(mutex_synchronises, "an owner sees everything that earlier owners have written") {
  pthread_t threads[3];
  const long each = turns(300);
  for (int i = 0; i != 3; ++i) threads[i] = start(rewrites, (void*)each);
  for (int i = 0; i != 3; ++i) join(threads[i]);
  EQUAL(words[63], 3 * each);
}

FOR_EVERY_MUTEX(mutex_lock_blocks,
                "pthread_mutex_lock blocks while another thread owns the mutex, and succeeds after the unlock") {
  int passed = 0;
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, &passed);
  until_blocked(1);
  CHECK(!has_ended(thread));
  EQUAL(passed, 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 0);
  EQUAL(passed, 1);
}

FOR_EACH_KIND(mutex_many_waiters, "all waiters get the mutex eventually") {
  int passed = 0;
  pthread_t threads[24];
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 24; ++i) threads[i] = start(passes, &passed);
  until_blocked(24);
  EQUAL(passed, 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 24; ++i) EQUAL((long)join(threads[i]), 0);
  EQUAL(passed, 24);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_EVERY_MUTEX(mutex_try,
                "pthread_mutex_trylock takes a free mutex, and returns EBUSY at once if another thread owns it") {
  EQUAL(result_of(tries, NULL), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

FOR_EACH_KIND(mutex_try_behind_waiters,
              "pthread_mutex_trylock returns EBUSY while other threads wait, and does not disturb them") {
  pthread_t threads[3];
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 3; ++i) threads[i] = start(passes, NULL);
  until_blocked(3);
  for (int i = 0; i != 10; ++i) EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 3; ++i) EQUAL((long)join(threads[i]), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
}

// Moves an unused mutex to a page of its own.
static void to_own_page(const pthread_mutex_t* from) {
  mutex = (pthread_mutex_t*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK((void*)mutex != MAP_FAILED);
  *mutex = *from;
}

static void* passes_and_unmaps(void* announced) {
  if (announced) will_block();
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
  EQUAL(munmap(mutex, 4096), 0);
  return NULL;
}

FOR_EACH_KIND(
    mutex_freed_by_the_next_owner,
    "the next owner may unlock the mutex and unmap its memory: the previous unlock does not touch it any more") {
  for (long i = 0; i != turns(40); ++i) {
    to_own_page(&first_mutex);
    EQUAL(pthread_mutex_lock(mutex), 0);
    const pthread_t thread = start(passes_and_unmaps, (void*)(i % 4));
    if (i % 4) until_blocked(1);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    join(thread);
  }
}

static void* last_unmaps(void* left) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const int others = --*(int*)left;
  EQUAL(pthread_mutex_unlock(mutex), 0);
  if (others == 0) EQUAL(munmap(mutex, 4096), 0);
  return NULL;
}

FOR_EACH_KIND(
    mutex_freed_with_its_object,
    "the last user of an object frees it and its mutex; a count under the mutex shows which user is the last") {
  for (long i = 0; i != turns(40); ++i) {
    int left = 3;
    pthread_t threads[3];
    to_own_page(&first_mutex);
    for (int j = 0; j != 3; ++j) threads[j] = start(last_unmaps, &left);
    for (int j = 0; j != 3; ++j) join(threads[j]);
  }
}

FOR_EACH_KIND(mutex_keeps_to_itself, "no operation writes outside the mutex") {
  struct {
    unsigned long before;
    pthread_mutex_t one;
    unsigned long after;
  } guarded = {~0ul / 3, *mutex, ~0ul / 5};
  mutex = &guarded.one;
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct timespec past = deadline(CLOCK_REALTIME, -1);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(result_of(locks_until, &past), ETIMEDOUT);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
  EQUAL(pthread_mutex_destroy(mutex), 0);
  CHECK(guarded.before == ~0ul / 3 && guarded.after == ~0ul / 5);
}
