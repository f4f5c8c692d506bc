// SPDX-License-Identifier: Apache-2.0
// Conditions: initialisation, destruction and attributes.
#include "condition_waiters.h"

// A thread waits, is woken, and returns.
static void expect_working(struct waiters* all) {
  all->waiting = all->returned = all->go = 0;
  const pthread_t thread = start(waits_to_go, all);
  lock_when_waiting(all, 1);
  all->go = 1;
  EQUAL(pthread_cond_signal(&all->condition), 0);
  EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  join(thread);
  EQUAL(all->returned, 1);
}

static pthread_condattr_t attributes_of_clock(clockid_t clock) {
  pthread_condattr_t attributes;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setclock(&attributes, clock), 0);
  return attributes;
}

static struct waiters global = WAITERS;

TEST(condition_static_initialiser, "PTHREAD_COND_INITIALIZER makes a condition that is ready for use") {
  static struct waiters all = WAITERS;
  expect_working(&all);
  expect_working(&global);
}

TEST(condition_static_initialiser_on_the_stack, "PTHREAD_COND_INITIALIZER works for automatic variables too") {
  struct waiters all = WAITERS;
  expect_working(&all);
}

TEST(condition_static_initialiser_can_be_destroyed, "a condition made by PTHREAD_COND_INITIALIZER can be destroyed") {
  struct waiters all = WAITERS;
  EQUAL(pthread_cond_destroy(&all.condition), 0);
  EQUAL(pthread_cond_init(&all.condition, NULL), 0);
  expect_working(&all);
}

TEST(condition_init_without_attributes, "pthread_cond_init without attributes makes a condition that works") {
  struct waiters all = WAITERS;
  memset(&all.condition, 0xA5, sizeof all.condition);
  EQUAL(pthread_cond_init(&all.condition, NULL), 0);
  expect_working(&all);
  EQUAL(pthread_cond_destroy(&all.condition), 0);
}

TEST(condition_init_with_default_attributes,
     "pthread_cond_init with default attributes works like init without attributes") {
  struct waiters all = WAITERS;
  pthread_condattr_t attributes;
  EQUAL(pthread_condattr_init(&attributes), 0);
  memset(&all.condition, 0xFF, sizeof all.condition);
  EQUAL(pthread_cond_init(&all.condition, &attributes), 0);
  expect_working(&all);
}

TEST(condition_attributes_may_be_destroyed,
     "once a condition is initialised, it does not depend on its attributes object") {
  struct waiters all = WAITERS;
  pthread_condattr_t attributes = attributes_of_clock(CLOCK_MONOTONIC);
  EQUAL(pthread_cond_init(&all.condition, &attributes), 0);
  EQUAL(pthread_condattr_setclock(&attributes, CLOCK_REALTIME), 0);
  EQUAL(pthread_condattr_destroy(&attributes), 0);
  memset(&attributes, 0xFF, sizeof attributes);
  expect_working(&all);
  const struct timespec at = deadline(CLOCK_MONOTONIC, 5);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &at), ETIMEDOUT);
  CHECK(has_passed(CLOCK_MONOTONIC, at));
}

TEST(condition_attributes_make_several, "one attributes object can initialise any number of conditions") {
  const pthread_condattr_t attributes = attributes_of_clock(CLOCK_MONOTONIC);
  static struct waiters all[8];
  for (int i = 0; i != 8; ++i) {
    EQUAL(pthread_mutex_init(&all[i].mutex, NULL), 0);
    EQUAL(pthread_cond_init(&all[i].condition, &attributes), 0);
  }
  for (int i = 0; i != 8; ++i) expect_working(&all[i]);
}

TEST(condition_attribute_defaults, "by default, attributes name the real-time clock and a process-private condition") {
  pthread_condattr_t attributes;
  clockid_t clock = -1;
  int shared = -1;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_getclock(&attributes, &clock), 0);
  EQUAL(clock, CLOCK_REALTIME);
  EQUAL(pthread_condattr_getpshared(&attributes, &shared), 0);
  EQUAL(shared, PTHREAD_PROCESS_PRIVATE);
}

TEST(condition_attribute_values_are_kept, "an attributes object returns the values that were set") {
  pthread_condattr_t attributes = attributes_of_clock(CLOCK_MONOTONIC);
  clockid_t clock = -1;
  int shared = -1;
  EQUAL(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EQUAL(pthread_condattr_getclock(&attributes, &clock), 0);
  EQUAL(clock, CLOCK_MONOTONIC);
  EQUAL(pthread_condattr_getpshared(&attributes, &shared), 0);
  EQUAL(shared, PTHREAD_PROCESS_SHARED);
}

TEST(condition_attribute_clock_of_processor_time, "pthread_condattr_setclock refuses a CPU-time clock") {
  pthread_condattr_t attributes = attributes_of_clock(CLOCK_MONOTONIC);
  clockid_t clock = -1;
  EQUAL(pthread_condattr_setclock(&attributes, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
  EQUAL(pthread_condattr_setclock(&attributes, 12345), EINVAL);
  EQUAL(pthread_condattr_getclock(&attributes, &clock), 0);
  EQUAL(clock, CLOCK_MONOTONIC);
}

TEST(condition_attribute_bad_sharing, "pthread_condattr_setpshared refuses an unknown value") {
  pthread_condattr_t attributes;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setpshared(&attributes, 17), EINVAL);
}

TEST(condition_destroyed_and_made_again, "a destroyed condition can be initialised again") {
  struct waiters all = WAITERS;
  for (int turn = 0; turn != 20; ++turn) {
    expect_working(&all);
    EQUAL(pthread_cond_destroy(&all.condition), 0);
    EQUAL(pthread_cond_init(&all.condition, NULL), 0);
  }
}

TEST(condition_destroyed_and_made_with_another_clock, "a condition that is initialised again has the new attributes") {
  struct waiters all = WAITERS;
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  for (int turn = 0; turn != 6; ++turn) {
    const clockid_t clock = turn % 2 != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    const pthread_condattr_t attributes = attributes_of_clock(clock);
    EQUAL(pthread_cond_init(&all.condition, &attributes), 0);
    const struct timespec at = deadline(clock, 2);
    EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &at), ETIMEDOUT);
    CHECK(has_passed(clock, at));
    EQUAL(pthread_cond_destroy(&all.condition), 0);
  }
}

TEST(condition_unused_is_destroyed, "an unused condition can be destroyed") {
  for (int turn = 0; turn != 1000; ++turn) {
    pthread_cond_t condition;
    EQUAL(pthread_cond_init(&condition, NULL), 0);
    EQUAL(pthread_cond_destroy(&condition), 0);
  }
}

TEST(condition_destroyed_after_signals, "a condition can be destroyed after signals without waiters") {
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  for (int turn = 0; turn != 100; ++turn) {
    EQUAL(pthread_cond_signal(&condition), 0);
    EQUAL(pthread_cond_broadcast(&condition), 0);
  }
  EQUAL(pthread_cond_destroy(&condition), 0);
}

TEST(condition_anywhere_in_memory, "a condition may lie at any aligned address, and the adjacent bytes do not change") {
  enum { room = 4096 };
  static _Alignas(pthread_cond_t) unsigned char memory[room + sizeof(pthread_cond_t)];
  for (size_t at = _Alignof(pthread_cond_t); at < room / 16; at += _Alignof(pthread_cond_t)) {
    memset(memory, 0x5A, sizeof memory);
    pthread_cond_t* const condition = (void*)(memory + at);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct timespec past = deadline(CLOCK_REALTIME, -1);
    EQUAL(pthread_cond_init(condition, NULL), 0);
    EQUAL(pthread_mutex_lock(&mutex), 0);
    EQUAL(pthread_cond_timedwait(condition, &mutex, &past), ETIMEDOUT);
    EQUAL(pthread_cond_broadcast(condition), 0);
    EQUAL(pthread_cond_destroy(condition), 0);
    for (size_t i = 0; i != sizeof memory; ++i) CHECK((i >= at && i < at + sizeof *condition) || memory[i] == 0x5A);
  }
}

TEST(condition_leaves_errno_alone, "the functions of conditions return errors, and do not change errno") {
  struct waiters all = WAITERS;
  const struct timespec past = deadline(CLOCK_REALTIME, -1), soon = deadline(CLOCK_REALTIME, 5), wrong = {0, -1};
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  errno = 1234;
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &past), ETIMEDOUT);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &soon), ETIMEDOUT);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &wrong), EINVAL);
  EQUAL(pthread_cond_destroy(&all.condition), 0);
  EQUAL(errno, 1234);
}
