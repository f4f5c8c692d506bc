// SPDX-License-Identifier: Apache-2.0
// Semaphores: waits with a deadline.
#include "semaphore_ways.h"

#include <limits.h>
#include <stdatomic.h>

static sem_t semaphore;

static void make(unsigned permits) { EQUAL(sem_init(&semaphore, 0, permits), 0); }

static void expect_value(int expected) { EQUAL(value_of(&semaphore), expected); }

TEST(semaphore_timedwait_times_out, "sem_timedwait fails with ETIMEDOUT at its deadline, not before") {
  make(0);
  for (int i = 0; i != 5; ++i) {
    const struct timespec at = deadline(CLOCK_REALTIME, i);
    EXPECT_ERRNO(sem_timedwait(&semaphore, &at), ETIMEDOUT);
    CHECK(has_passed(CLOCK_REALTIME, at));
  }
  expect_value(0);
}

TEST(semaphore_clockwait_times_out,
     "sem_clockwait fails with ETIMEDOUT at its deadline on the given clock, not before") {
  static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
  make(0);
  for (int i = 0; i != 6; ++i) {
    const struct timespec at = deadline(clocks[i % 2], i);
    EXPECT_ERRNO(sem_clockwait(&semaphore, clocks[i % 2], &at), ETIMEDOUT);
    CHECK(has_passed(clocks[i % 2], at));
  }
  expect_value(0);
}

TEST(semaphore_past_deadlines, "a deadline that passed any time ago causes ETIMEDOUT if there is no permit") {
  static const time_t seconds[] = {0, -1, -100, LONG_MIN};
  make(0);
  for (int i = 0; i != 4; ++i) {
    const struct timespec at = {seconds[i], 5};
    EXPECT_ERRNO(sem_timedwait(&semaphore, &at), ETIMEDOUT);
    EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at), ETIMEDOUT);
  }
}

TEST(semaphore_past_deadline_with_permits, "a deadline that has passed does not matter if there is a permit") {
  static const time_t seconds[] = {0, -1, -100, LONG_MIN};
  for (int i = 0; i != 4; ++i) {
    const struct timespec at = {seconds[i], 5};
    make(3);
    EQUAL(sem_timedwait(&semaphore, &at), 0);
    EQUAL(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at), 0);
    EQUAL(sem_clockwait(&semaphore, CLOCK_REALTIME, &at), 0);
    EXPECT_ERRNO(sem_timedwait(&semaphore, &at), ETIMEDOUT);
  }
}

TEST(semaphore_bad_nanoseconds, "nanoseconds out of range cause EINVAL if the thread would have to wait") {
  static const long bad[] = {-1, 1000000000, LONG_MIN, LONG_MAX};
  make(0);
  for (int i = 0; i != 4; ++i) {
    struct timespec at = deadline(CLOCK_REALTIME, 60000);
    at.tv_nsec = bad[i];
    EXPECT_ERRNO(sem_timedwait(&semaphore, &at), EINVAL);
    EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at), EINVAL);
    at.tv_sec = -1;
    EXPECT_ERRNO(sem_timedwait(&semaphore, &at), EINVAL);
  }
  expect_value(0);
  EQUAL(sem_post(&semaphore), 0);  // no thread is left in the line
  EQUAL(sem_trywait(&semaphore), 0);
}

// POSIX does not say whether the call then checks the deadline. If it does, it must not take the permit.
TEST(semaphore_bad_nanoseconds_with_permits,
     "if there is a permit, nanoseconds out of range either do not matter or leave the permit there") {
  const struct timespec at = {0, -1};
  make(1);
  errno = 0;
  const int result = sem_timedwait(&semaphore, &at);
  CHECK(result == 0 || errno == EINVAL);
  expect_value(result == 0 ? 0 : 1);
}

TEST(semaphore_edges_of_nanoseconds, "0 and 999999999 nanoseconds are in range") {
  make(0);
  const struct timespec first = {1, 0}, last = {1, 999999999};
  EXPECT_ERRNO(sem_timedwait(&semaphore, &first), ETIMEDOUT);
  EXPECT_ERRNO(sem_timedwait(&semaphore, &last), ETIMEDOUT);
}

TEST(semaphore_bad_clocks, "sem_clockwait refuses clocks other than the real-time and the monotonic one with EINVAL") {
  const struct timespec at = deadline(CLOCK_MONOTONIC, 60000);
  make(0);
  EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &at), EINVAL);
  EXPECT_ERRNO(sem_clockwait(&semaphore, CLOCK_THREAD_CPUTIME_ID, &at), EINVAL);
  EXPECT_ERRNO(sem_clockwait(&semaphore, 12345, &at), EINVAL);
  EXPECT_ERRNO(sem_clockwait(&semaphore, -1, &at), EINVAL);
  expect_value(0);
}

// --- with other threads ---

struct timed {
  struct timespec at;
  clockid_t clock;  // -1: sem_timedwait
};

static int wait_until(const struct timed* timed) {
  errno = 0;
  const int result =
      timed->clock == -1 ? sem_timedwait(&semaphore, &timed->at) : sem_clockwait(&semaphore, timed->clock, &timed->at);
  return result == 0 ? 0 : errno;
}

static void* waits_until(void* timed) {
  will_block();
  return (void*)(long)wait_until(timed);
}

static void expect_woken(clockid_t clock, struct timespec at) {
  struct timed timed = {at, clock};
  make(0);
  const pthread_t thread = start(waits_until, &timed);
  until_blocked(1);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL((long)join(thread), 0);
  expect_value(0);
}

TEST(semaphore_timed_waits_are_woken, "a timed wait that gets a permit before its deadline succeeds") {
  expect_woken(-1, deadline(CLOCK_REALTIME, 60000));
  expect_woken(CLOCK_REALTIME, deadline(CLOCK_REALTIME, 60000));
  expect_woken(CLOCK_MONOTONIC, deadline(CLOCK_MONOTONIC, 60000));
}

TEST(semaphore_far_deadlines, "a deadline too far away to represent is no error: the wait ends with a post") {
  static const time_t seconds[] = {INT_MAX, LONG_MAX / 1000000000, LONG_MAX};
  for (int i = 0; i != 3; ++i) {
    const struct timespec at = {seconds[i], 999999999};
    expect_woken(-1, at);
    expect_woken(CLOCK_REALTIME, at);
    expect_woken(CLOCK_MONOTONIC, at);
  }
}

TEST(semaphore_timeouts_leave_nothing_behind, "after many timeouts, the next waiter gets the post") {
  make(0);
  for (int i = 0; i != 500; ++i) {
    const struct timespec past = deadline(CLOCK_REALTIME, -1);
    EXPECT_ERRNO(sem_timedwait(&semaphore, &past), ETIMEDOUT);
  }
  expect_value(0);
  EQUAL(sem_post(&semaphore), 0);
  expect_value(1);
  EQUAL(sem_trywait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
}

static void* waits(void* unused) {
  will_block();
  EQUAL(sem_wait(&semaphore), 0);
  return unused;
}

TEST(semaphore_timeouts_in_the_middle,
     "waiters that leave the middle of the line at their deadline take no permit with them") {
  enum { count = 9 };
  pthread_t threads[count];
  make(0);
  struct timed soon = {deadline(CLOCK_MONOTONIC, 20), CLOCK_MONOTONIC};
  for (int i = 0; i != count; ++i) {
    threads[i] = i % 3 == 1 ? start(waits_until, &soon) : start(waits, NULL);
    until_blocked(1);
  }
  for (int i = 1; i < count; i += 3) EQUAL((long)join(threads[i]), ETIMEDOUT);
  for (int i = 0; i != count / 3 * 2; ++i) EQUAL(sem_post(&semaphore), 0);
  for (int i = 0; i != count; ++i)
    if (i % 3 != 1) join(threads[i]);
  expect_value(0);
}

TEST(semaphore_all_time_out, "when all waiters have timed out, later threads get the posts") {
  pthread_t threads[6];
  make(0);
  struct timed soon = {deadline(CLOCK_REALTIME, 10), -1};
  for (int i = 0; i != 6; ++i) threads[i] = start(waits_until, &soon);
  for (int i = 0; i != 6; ++i) EQUAL((long)join(threads[i]), ETIMEDOUT);
  expect_value(0);
  for (int i = 0; i != 3; ++i) EQUAL(sem_post(&semaphore), 0);
  expect_value(3);
  for (int i = 0; i != 3; ++i) EQUAL(sem_wait(&semaphore), 0);
}

static atomic_int successes;

static void* waits_in_slices(void* unused) {
  const struct timespec end = deadline(CLOCK_MONOTONIC, 15000);
  while (successes < 200 && !has_passed(CLOCK_MONOTONIC, end)) {
    struct timed slice = {deadline(CLOCK_MONOTONIC, 0), CLOCK_MONOTONIC};
    slice.at.tv_nsec = slice.at.tv_nsec < 999900000 ? slice.at.tv_nsec + 50000 : slice.at.tv_nsec;
    const int result = wait_until(&slice);
    CHECK(result == 0 || result == ETIMEDOUT);
    if (result == 0) ++successes;
  }
  return unused;
}

TEST(semaphore_posts_and_timeouts,
     "when waits time out and posts come all the time, no permit is lost, and none is invented") {
  pthread_t threads[4];
  make(0);
  for (int i = 0; i != 4; ++i) threads[i] = start(waits_in_slices, NULL);
  for (int i = 0; i != 200; ++i) {
    EQUAL(sem_post(&semaphore), 0);
    if (i % 10 == 0) nap(0);
  }
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(successes, 200);
  expect_value(0);
}

TEST(semaphore_post_at_the_deadline, "a permit that is posted at the deadline is either taken or still available") {
  make(0);
  for (int turn = 0; turn != 60; ++turn) {
    struct timed soon = {deadline(CLOCK_MONOTONIC, turn % 3), CLOCK_MONOTONIC};
    const pthread_t thread = start(waits_until, &soon);
    if (turn % 3 != 0) nap(turn % 3);
    EQUAL(sem_post(&semaphore), 0);
    const long result = (long)join(thread);
    CHECK(result == 0 || result == ETIMEDOUT);
    expect_value(result == 0 ? 0 : 1);
    if (result != 0) EQUAL(sem_trywait(&semaphore), 0);
  }
}
