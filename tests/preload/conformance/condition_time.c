// SPDX-License-Identifier: Apache-2.0
// Conditions: waits with a deadline.
#include "condition_waiters.h"

#include <limits.h>
#include <stdatomic.h>

static pthread_cond_t of_clock(clockid_t clock) {
  pthread_condattr_t attributes;
  pthread_cond_t condition;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setclock(&attributes, clock), 0);
  EQUAL(pthread_cond_init(&condition, &attributes), 0);
  return condition;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void expect_held(void) { EQUAL(pthread_mutex_trylock(&mutex), EBUSY); }

TEST(condition_timedwait_times_out,
     "pthread_cond_timedwait returns ETIMEDOUT at its deadline, not before, and with the mutex held") {
  EQUAL(pthread_mutex_lock(&mutex), 0);
  for (int turn = 0; turn != 5; ++turn) {
    const struct timespec at = deadline(CLOCK_REALTIME, turn);
    EQUAL(pthread_cond_timedwait(&condition, &mutex, &at), ETIMEDOUT);
    CHECK(has_passed(CLOCK_REALTIME, at));
    expect_held();
  }
  EQUAL(pthread_mutex_unlock(&mutex), 0);
}

TEST(condition_timedwait_monotonic, "the deadline refers to the clock that the condition was initialised with") {
  pthread_cond_t monotonic = of_clock(CLOCK_MONOTONIC);
  EQUAL(pthread_mutex_lock(&mutex), 0);
  const struct timespec at = deadline(CLOCK_MONOTONIC, 10);
  EQUAL(pthread_cond_timedwait(&monotonic, &mutex, &at), ETIMEDOUT);
  CHECK(has_passed(CLOCK_MONOTONIC, at));
  expect_held();
}

TEST(condition_timedwait_realtime_attribute, "a condition that was initialised with CLOCK_REALTIME uses that clock") {
  pthread_cond_t realtime = of_clock(CLOCK_REALTIME);
  EQUAL(pthread_mutex_lock(&mutex), 0);
  const struct timespec at = deadline(CLOCK_REALTIME, 10);
  EQUAL(pthread_cond_timedwait(&realtime, &mutex, &at), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, at));
}

TEST(condition_clockwait_has_its_own_clock,
     "pthread_cond_clockwait uses the clock of its argument, not that of the condition") {
  static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
  EQUAL(pthread_mutex_lock(&mutex), 0);
  for (int i = 0; i != 4; ++i) {
    pthread_cond_t made_so = of_clock(clocks[i / 2]);
    const struct timespec at = deadline(clocks[i % 2], 4);
    EQUAL(pthread_cond_clockwait(&made_so, &mutex, clocks[i % 2], &at), ETIMEDOUT);
    CHECK(has_passed(clocks[i % 2], at));
    expect_held();
  }
}

TEST(condition_clockwait_bad_clock,
     "pthread_cond_clockwait refuses other clocks with EINVAL, and the mutex stays held") {
  EQUAL(pthread_mutex_lock(&mutex), 0);
  const struct timespec at = deadline(CLOCK_MONOTONIC, 60000);
  EQUAL(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &at), EINVAL);
  EQUAL(pthread_cond_clockwait(&condition, &mutex, CLOCK_THREAD_CPUTIME_ID, &at), EINVAL);
  EQUAL(pthread_cond_clockwait(&condition, &mutex, 12345, &at), EINVAL);
  EQUAL(pthread_cond_clockwait(&condition, &mutex, -1, &at), EINVAL);
  expect_held();
}

TEST(condition_bad_nanoseconds, "nanoseconds out of range return EINVAL, and the mutex stays held") {
  static const long bad[] = {-1, 1000000000, LONG_MIN, LONG_MAX};
  EQUAL(pthread_mutex_lock(&mutex), 0);
  for (int i = 0; i != 4; ++i) {
    struct timespec at = deadline(CLOCK_REALTIME, 60000);
    at.tv_nsec = bad[i];
    EQUAL(pthread_cond_timedwait(&condition, &mutex, &at), EINVAL);
    EQUAL(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &at), EINVAL);
    at.tv_sec = 0;
    EQUAL(pthread_cond_timedwait(&condition, &mutex, &at), EINVAL);
    expect_held();
  }
}

static atomic_bool entered;

static void* enters(void* unused) {
  will_block();
  EQUAL(pthread_mutex_lock(&mutex), 0);
  entered = true;
  EQUAL(pthread_mutex_unlock(&mutex), 0);
  return unused;
}

// Another thread waits for the mutex of this thread, and would get it if this thread unlocked it.
static void expect_kept_when_invalid(pthread_cond_t* any) {
  EQUAL(pthread_mutex_lock(&mutex), 0);
  const pthread_t thread = start(enters, NULL);
  until_blocked(1);
  const struct timespec wrong = {0, -1}, fine = deadline(CLOCK_MONOTONIC, 60000);
  for (int turn = 0; turn != 20; ++turn) {
    EQUAL(pthread_cond_timedwait(any, &mutex, &wrong), EINVAL);
    EQUAL(pthread_cond_clockwait(any, &mutex, CLOCK_MONOTONIC, &wrong), EINVAL);
    EQUAL(pthread_cond_clockwait(any, &mutex, CLOCK_THREAD_CPUTIME_ID, &fine), EINVAL);
  }
  CHECK(!entered);
  EQUAL(pthread_mutex_unlock(&mutex), 0);
  join(thread);
}

TEST(condition_invalid_keeps_the_mutex, "a wait that is refused with EINVAL does not release the mutex") {
  expect_kept_when_invalid(&condition);
}

TEST(condition_invalid_keeps_the_mutex_shared,
     "a wait on a process-shared condition that is refused with EINVAL does not release its private mutex") {
  pthread_condattr_t attributes;
  pthread_cond_t shared;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EQUAL(pthread_cond_init(&shared, &attributes), 0);
  expect_kept_when_invalid(&shared);
}

TEST(condition_edges_of_nanoseconds, "0 and 999999999 nanoseconds are in range") {
  EQUAL(pthread_mutex_lock(&mutex), 0);
  struct timespec at = deadline(CLOCK_REALTIME, -2000);
  at.tv_nsec = 0;
  EQUAL(pthread_cond_timedwait(&condition, &mutex, &at), ETIMEDOUT);
  at.tv_nsec = 999999999;
  EQUAL(pthread_cond_timedwait(&condition, &mutex, &at), ETIMEDOUT);
}

TEST(condition_past_deadlines, "a deadline that passed any time ago returns ETIMEDOUT, with the mutex held") {
  static const time_t seconds[] = {0, 1, -1, -100, LONG_MIN};
  EQUAL(pthread_mutex_lock(&mutex), 0);
  for (int i = 0; i != 5; ++i) {
    const struct timespec at = {seconds[i], 5};
    EQUAL(pthread_cond_timedwait(&condition, &mutex, &at), ETIMEDOUT);
    if (i != 1) EQUAL(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &at), ETIMEDOUT);
    expect_held();
  }
}

TEST(condition_past_deadline_releases_the_mutex,
     "a wait whose deadline has passed releases the mutex, and acquires it again") {
  EQUAL(pthread_mutex_lock(&mutex), 0);
  const pthread_t thread = start(enters, NULL);
  while (!entered) {
    const struct timespec past = deadline(CLOCK_REALTIME, -1);
    EQUAL(pthread_cond_timedwait(&condition, &mutex, &past), ETIMEDOUT);
    expect_held();
    sched_yield();
  }
  EQUAL(pthread_mutex_unlock(&mutex), 0);
  join(thread);
}

// A thread that waits until `at`. expect_woken signals it long before that.
struct timed {
  struct waiters all;
  struct timespec at;
  clockid_t clock;  // -1: the condition's
};

static void* waits_until(void* argument) {
  struct timed* const timed = argument;
  EQUAL(pthread_mutex_lock(&timed->all.mutex), 0);
  timed->all.waiting = 1;
  const int result = timed->clock == -1
                         ? pthread_cond_timedwait(&timed->all.condition, &timed->all.mutex, &timed->at)
                         : pthread_cond_clockwait(&timed->all.condition, &timed->all.mutex, timed->clock, &timed->at);
  timed->all.returned = 1;
  EQUAL(pthread_mutex_unlock(&timed->all.mutex), 0);
  return (void*)(long)result;
}

static void expect_woken(clockid_t clock, struct timespec at) {
  struct timed timed = {WAITERS, at, clock};
  const pthread_t thread = start(waits_until, &timed);
  lock_when_waiting(&timed.all, 1);
  EQUAL(pthread_cond_signal(&timed.all.condition), 0);
  EQUAL(pthread_mutex_unlock(&timed.all.mutex), 0);
  EQUAL((long)join(thread), 0);
}

TEST(condition_timedwait_is_woken, "a timed wait that is signalled before its deadline returns 0") {
  expect_woken(-1, deadline(CLOCK_REALTIME, 60000));
  expect_woken(CLOCK_REALTIME, deadline(CLOCK_REALTIME, 60000));
  expect_woken(CLOCK_MONOTONIC, deadline(CLOCK_MONOTONIC, 60000));
}

TEST(condition_far_deadlines, "a deadline too far away to represent is no error: the wait ends with a signal") {
  static const time_t seconds[] = {INT_MAX, LONG_MAX / 1000000000, LONG_MAX};
  for (int i = 0; i != 3; ++i) {
    const struct timespec at = {seconds[i], 999999999};
    expect_woken(-1, at);
    expect_woken(CLOCK_REALTIME, at);
    expect_woken(CLOCK_MONOTONIC, at);
  }
}

TEST(condition_timeout_waits_for_the_mutex, "a wait that has timed out returns only once it holds the mutex again") {
  struct timed timed = {WAITERS, deadline(CLOCK_REALTIME, 5), -1};
  const pthread_t thread = start(waits_until, &timed);
  lock_when_waiting(&timed.all, 1);
  const int returned = timed.all.returned;  // if it was that late
  nap(15);
  EQUAL(timed.all.returned, returned);
  EQUAL(pthread_mutex_unlock(&timed.all.mutex), 0);
  EQUAL((long)join(thread), ETIMEDOUT);
}
