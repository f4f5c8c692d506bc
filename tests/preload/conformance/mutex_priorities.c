// SPDX-License-Identifier: Apache-2.0
// Mutexes with a priority protocol, which are left to glibc and the kernel.
#include "kinds.h"

static void make_inherit(int type) { make(type, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE); }

TEST(inherit_recursive, "a mutex with PTHREAD_PRIO_INHERIT can be recursive") {
  make_inherit(PTHREAD_MUTEX_RECURSIVE);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(result_of(unlocks, NULL), EPERM);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

TEST(inherit_errorcheck, "a mutex with PTHREAD_PRIO_INHERIT can be an errorcheck mutex") {
  make_inherit(PTHREAD_MUTEX_ERRORCHECK);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), EDEADLK);
  EQUAL(result_of(unlocks, NULL), EPERM);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), EPERM);
}

static pthread_mutex_t replaced = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void* increments_in_both(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    pthread_mutex_t* const locks[] = {mutex, &replaced};
    EQUAL(pthread_mutex_lock(locks[0]), 0);
    EQUAL(pthread_mutex_lock(locks[1]), 0);
    ++count;
    EQUAL(pthread_mutex_unlock(locks[i % 2]), 0);
    EQUAL(pthread_mutex_unlock(locks[1 - i % 2]), 0);
  }
  return NULL;
}

static void use_beside_replaced(void) {
  pthread_t threads[4];
  const long each = turns(200);
  for (int i = 0; i != 4; ++i) threads[i] = start(increments_in_both, (void*)each);
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(count, 4 * each);
}

TEST(inherit_beside_others, "a mutex with PTHREAD_PRIO_INHERIT and a mutex without it can be locked together") {
  make_inherit(PTHREAD_MUTEX_NORMAL);
  use_beside_replaced();
}

TEST(robust_beside_others, "a robust mutex and a mutex that is not robust can be locked together") {
  make(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE);
  use_beside_replaced();
}

// The effective priority of a thread. Real-time priorities are negative: the higher the priority, the lower the number.
static long priority_of(pid_t thread) {
  char path[64], text[512];
  long priority = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  FILE* const file = fopen(path, "r");
  CHECK(file && fgets(text, sizeof text, file));
  fclose(file);
  CHECK(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %ld", &priority) ==
        1);
  return priority;
}

TEST(inherit_raises,
     "while a thread of high priority waits for a mutex with PTHREAD_PRIO_INHERIT, the owner has that priority") {
  pthread_attr_t urgent;
  pthread_t thread;
  const struct sched_param parameters = {.sched_priority = 3};
  make_inherit(PTHREAD_MUTEX_NORMAL);
  EQUAL(pthread_attr_init(&urgent), 0);
  EQUAL(pthread_attr_setinheritsched(&urgent, PTHREAD_EXPLICIT_SCHED), 0);
  EQUAL(pthread_attr_setschedpolicy(&urgent, SCHED_FIFO), 0);
  EQUAL(pthread_attr_setschedparam(&urgent, &parameters), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  if (pthread_create(&thread, &urgent, passes, NULL) != 0) SKIP("not allowed to have a real-time priority");
  until_blocked(1);
  EQUAL(priority_of(getpid()), -1 - 3);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  CHECK(priority_of(getpid()) >= 0);
  join(thread);
}

// --- with a ceiling ---

static void make_protect(int ceiling) {
  pthread_mutexattr_t attributes;
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT), 0);
  EQUAL(pthread_mutexattr_setprioceiling(&attributes, ceiling), 0);
  EQUAL(pthread_mutex_init(mutex, &attributes), 0);
}

// Only threads with a real-time priority can be raised to a ceiling.
static void get_priority(int priority) {
  const struct sched_param parameters = {.sched_priority = priority};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0)
    SKIP("not allowed to have a real-time priority");
}

TEST(protect_ceiling, "a mutex with PTHREAD_PRIO_PROTECT has the ceiling that it was given") {
  int ceiling = -1;
  make_protect(7);
  EQUAL(pthread_mutex_getprioceiling(mutex, &ceiling), 0);
  EQUAL(ceiling, 7);
}

TEST(protect_locks, "a mutex with PTHREAD_PRIO_PROTECT can be locked, tried and unlocked like any other mutex") {
  get_priority(1);
  make_protect(3);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

TEST(protect_raises, "the owner of a mutex with PTHREAD_PRIO_PROTECT has at least the ceiling's priority") {
  struct sched_param parameters;
  get_priority(1);
  make_protect(3);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(sched_getparam(0, &parameters), 0);
  EQUAL(parameters.sched_priority, 3);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(sched_getparam(0, &parameters), 0);
  EQUAL(parameters.sched_priority, 1);
}

TEST(protect_too_high, "a thread whose priority is above the ceiling gets EINVAL") {
  get_priority(3);
  make_protect(1);
  EQUAL(pthread_mutex_lock(mutex), EINVAL);
  EQUAL(pthread_mutex_trylock(mutex), EINVAL);
}

TEST(protect_new_ceiling, "pthread_mutex_setprioceiling sets another ceiling, and returns the old ceiling") {
  int before = -1;
  get_priority(1);
  make_protect(3);
  EQUAL(pthread_mutex_setprioceiling(mutex, 5, &before), 0);
  EQUAL(before, 3);
  EQUAL(pthread_mutex_getprioceiling(mutex, &before), 0);
  EQUAL(before, 5);
  EQUAL(pthread_mutex_setprioceiling(mutex, 1000, &before), EINVAL);
}
