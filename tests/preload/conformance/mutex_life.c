// SPDX-License-Identifier: Apache-2.0
// Initialisation and destruction of mutexes.
#include "kinds.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

TEST(mutex_initialiser, "PTHREAD_MUTEX_INITIALIZER makes a mutex with default attributes") {
  mutex = &plain;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

TEST(mutex_initialiser_recursive, "PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP makes a recursive mutex") {
  mutex = &recursive;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(result_of(unlocks, NULL), EPERM);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

TEST(mutex_initialiser_errorcheck, "PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP makes an errorcheck mutex") {
  mutex = &errorcheck;
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), EDEADLK);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

TEST(mutex_initialiser_adaptive, "PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP makes an adaptive mutex") {
  mutex = &adaptive;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

TEST(mutex_initialiser_unused, "a mutex that was initialised statically, and never used, can be destroyed") {
  EQUAL(pthread_mutex_destroy(&plain), 0);
  EQUAL(pthread_mutex_destroy(&recursive), 0);
  EQUAL(pthread_mutex_destroy(&errorcheck), 0);
  EQUAL(pthread_mutex_destroy(&adaptive), 0);
}

FOR_EVERY_MUTEX(mutex_unused, "a mutex that was never used can be destroyed") {
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_EACH_KIND(mutex_destroyed_locked,
              "destroying a locked mutex returns EBUSY and changes nothing, for the owner and for others") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), EBUSY);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

static void* destroys(void* unused) {
  (void)unused;
  return (void*)(long)pthread_mutex_destroy(mutex);
}

FOR_EACH_KIND(
    mutex_destroyed_by_another,
    "destroying a mutex that another thread holds returns EBUSY; once it is unlocked, any thread may destroy it") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(destroys, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(destroys, NULL), 0);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool announced;

static void* waits_on_condition(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  will_block();
  while (!announced) EQUAL(pthread_cond_wait(&condition, mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  return unused;
}

FOR_EACH_KIND(mutex_destroyed_under_condition,
              "destroying a mutex with which a thread waits on a condition returns EBUSY, and changes nothing") {
  const pthread_t thread = start(waits_on_condition, NULL);
  until_blocked(1);
  EQUAL(pthread_mutex_destroy(mutex), EBUSY);
  EQUAL(pthread_mutex_lock(mutex), 0);
  announced = true;
  EQUAL(pthread_cond_signal(&condition), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_EACH_KIND(mutex_destroyed_after_contention,
              "an unlocked mutex can be destroyed after threads have waited for it and some have given up") {
  struct timespec past = {1, 0};
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  EQUAL(result_of(locks_until, &past), ETIMEDOUT);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_EACH_KIND(
    mutex_destroyed_at_once,
    "the next owner may unlock and destroy the mutex at once, while the previous owner is still inside unlock") {
  const pthread_mutex_t unused = *mutex;
  for (long i = 0; i != turns(40); ++i) {
    *mutex = unused;
    EQUAL(pthread_mutex_lock(mutex), 0);
    const pthread_t thread = start(passes, NULL);
    until_blocked(1);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    EQUAL(pthread_mutex_lock(mutex), 0);  // before that thread, or after it
    EQUAL(pthread_mutex_unlock(mutex), 0);
    join(thread);
    EQUAL(pthread_mutex_destroy(mutex), 0);
  }
}

FOR_EVERY_MUTEX(mutex_initialised_again, "a destroyed mutex can be initialised again, with another type") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 3; ++i) {
    EQUAL(pthread_mutex_destroy(mutex), 0);
    make_type(PTHREAD_MUTEX_ERRORCHECK);
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(pthread_mutex_lock(mutex), EDEADLK);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    EQUAL(pthread_mutex_destroy(mutex), 0);
    EQUAL(pthread_mutex_init(mutex, NULL), 0);
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(result_of(tries, NULL), EBUSY);
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
}

FOR_EACH_KIND(mutex_used_after_its_end, "a destroyed mutex is invalid: the functions return EINVAL") {
  const struct timespec past = {1, 0};
  EQUAL(pthread_mutex_destroy(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), EINVAL);
  EQUAL(pthread_mutex_trylock(mutex), EINVAL);
  EQUAL(pthread_mutex_timedlock(mutex, &past), EINVAL);
  EQUAL(pthread_mutex_unlock(mutex), EINVAL);
}

TEST(mutex_init_overwrites, "pthread_mutex_init makes a mutex of memory with any content") {
  mutex = malloc(sizeof *mutex);
  for (int filler = 0; filler <= 255; filler += 51) {
    memset(mutex, filler, sizeof *mutex);
    EQUAL(pthread_mutex_init(mutex, NULL), 0);
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(result_of(tries, NULL), EBUSY);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    EQUAL(pthread_mutex_destroy(mutex), 0);
  }
}

TEST(mutex_zeroed, "zeroed memory is an unlocked mutex, like PTHREAD_MUTEX_INITIALIZER: calloc, mmap, statics") {
  static pthread_mutex_t in_bss;
  pthread_mutex_t* const places[] = {&in_bss, calloc(1, sizeof *mutex),
                                     mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
  for (int i = 0; i != 3; ++i) {
    mutex = places[i];
    EQUAL(pthread_mutex_lock(mutex), 0);
    const pthread_t thread = start(passes, NULL);
    until_blocked(1);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    join(thread);
  }
}

TEST(mutex_never_destroyed, "the memory of a mutex that was not destroyed can be used for another mutex") {
  for (int i = 0; i != 100; ++i) {
    memset(mutex, 0, sizeof *mutex);
    EQUAL(pthread_mutex_lock(mutex), 0);
    if (i % 10 == 0) EQUAL(result_of(tries, NULL), EBUSY);
    if (i % 2) EQUAL(pthread_mutex_unlock(mutex), 0);
  }
}

TEST(mutex_neighbours, "adjacent mutexes do not affect each other") {
  static pthread_mutex_t many[100];
  for (int i = 0; i != 100; i += 2) EQUAL(pthread_mutex_lock(&many[i]), 0);
  for (int i = 0; i != 100; ++i) EQUAL(pthread_mutex_trylock(&many[i]), i % 2 ? 0 : EBUSY);
  for (int i = 99; i >= 0; --i) EQUAL(pthread_mutex_unlock(&many[i]), 0);
  for (int i = 0; i != 100; ++i) EQUAL(pthread_mutex_destroy(&many[i]), 0);
}

FOR_EACH_KIND(mutex_many_at_once, "a thread may hold thousands of mutexes, and unlock them in any order") {
  enum { many = 5003 };
  static pthread_mutex_t all[many];
  for (int i = 0; i != many; ++i) all[i] = *mutex;  // a copy of an unused mutex
  for (int round = 1; round != 4; ++round) {
    for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_lock(&all[i]), 0);
    EQUAL(pthread_mutex_destroy(&all[many - 1]), EBUSY);
    for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_unlock(&all[i * 1000 * round % many]), 0);
  }
  for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_destroy(&all[i]), 0);
}
