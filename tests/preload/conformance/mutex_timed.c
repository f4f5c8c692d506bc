// SPDX-License-Identifier: Apache-2.0
// pthread_mutex_timedlock and pthread_mutex_clocklock.
#include "kinds.h"

#include <limits.h>

FOR_EVERY_MUTEX(mutex_timed_free, "a timed lock takes a free mutex even if the deadline has passed") {
  const struct timespec past = deadline(CLOCK_REALTIME, -1000), ago = {0, 0};
  EQUAL(pthread_mutex_timedlock(mutex, &past), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_timedlock(mutex, &ago), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &past), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
}

FOR_EACH_KIND(mutex_clocked_free,
              "pthread_mutex_clocklock with CLOCK_MONOTONIC takes a free mutex even if the deadline has passed") {
  const struct timespec past = deadline(CLOCK_MONOTONIC, -1000);
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

FOR_EVERY_MUTEX(mutex_timed_past,
                "a timed lock whose deadline has passed returns ETIMEDOUT if another thread holds the mutex") {
  struct timespec past = deadline(CLOCK_REALTIME, -1), long_ago = {1, 0};
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(locks_until, &past), ETIMEDOUT);
  EQUAL(result_of(locks_until, &long_ago), ETIMEDOUT);
}

FOR_EACH_KIND(mutex_timed_before_the_epoch,
              "a timed lock with a negative tv_sec returns ETIMEDOUT if another thread holds the mutex") {
  struct timespec before = {-1, 0}, long_before = {LONG_MIN, 999999999};
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(locks_until, &before), ETIMEDOUT);
  EQUAL(result_of(locks_until, &long_before), ETIMEDOUT);
}

FOR_EVERY_MUTEX(mutex_timed_waits,
                "pthread_mutex_timedlock returns ETIMEDOUT at the deadline on CLOCK_REALTIME, and not before") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct timespec soon = deadline(CLOCK_REALTIME, 15);
  EQUAL(result_of(locks_until, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon));
}

struct clocked {
  clockid_t clock;
  struct timespec at;
};

static void* clocklocks(void* how) {
  const struct clocked* const clocked = how;
  const long result = pthread_mutex_clocklock(mutex, clocked->clock, &clocked->at);
  if (result == 0) EQUAL(pthread_mutex_unlock(mutex), 0);
  return (void*)result;
}

static void* waits_by_clock(void* how) {
  will_block();
  return clocklocks(how);
}

FOR_EACH_KIND(mutex_clocked_waits_realtime,
              "pthread_mutex_clocklock returns ETIMEDOUT at the deadline on CLOCK_REALTIME, and not before") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct clocked soon = {CLOCK_REALTIME, deadline(CLOCK_REALTIME, 15)};
  EQUAL(result_of(clocklocks, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon.at));
}

FOR_EACH_KIND(mutex_clocked_waits_monotonic,
              "pthread_mutex_clocklock returns ETIMEDOUT at the deadline on CLOCK_MONOTONIC, and not before") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct clocked soon = {CLOCK_MONOTONIC, deadline(CLOCK_MONOTONIC, 15)}, past = {CLOCK_MONOTONIC, {0, 1}},
                 before = {CLOCK_MONOTONIC, {-1, 1}};
  EQUAL(result_of(clocklocks, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_MONOTONIC, soon.at));
  EQUAL(result_of(clocklocks, &past), ETIMEDOUT);
  EQUAL(result_of(clocklocks, &before), ETIMEDOUT);
}

FOR_EACH_KIND(mutex_timed_in_time, "timed locks return with the mutex if it is unlocked before their deadline") {
  struct timespec later = deadline(CLOCK_REALTIME, 60000);
  struct clocked much_later = {CLOCK_MONOTONIC, deadline(CLOCK_MONOTONIC, 60000)};
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t one = start(waits_until, &later), other = start(waits_by_clock, &much_later);
  until_blocked(2);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(one), 0);
  EQUAL((long)join(other), 0);
}

FOR_EACH_KIND(mutex_timed_almost_for_ever, "a timed lock waits even if its deadline in nanoseconds overflows 64 bits") {
  struct clocked far[] = {{CLOCK_MONOTONIC, {LONG_MAX, 999999999}},
                          {CLOCK_REALTIME, {LONG_MAX, 999999999}},
                          // Times 10^9: just over 2^64.
                          {CLOCK_MONOTONIC, {18446744074, 0}},
                          {CLOCK_REALTIME, {18446744074, 0}}};
  pthread_t threads[4];
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 4; ++i) threads[i] = start(waits_by_clock, &far[i]);
  until_blocked(4);
  for (int i = 0; i != 4; ++i) CHECK(!has_ended(threads[i]));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 4; ++i) EQUAL((long)join(threads[i]), 0);
}

FOR_EVERY_MUTEX(mutex_timed_invalid,
                "a timed lock that would block returns EINVAL if tv_nsec is not from 0 to 999999999") {
  struct timespec negative = {0, -1}, large = {0, 1000000000}, later = deadline(CLOCK_REALTIME, 60000);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(locks_until, &negative), EINVAL);
  EQUAL(result_of(locks_until, &large), EINVAL);
  later.tv_nsec = 1000000000;
  EQUAL(result_of(locks_until, &later), EINVAL);
}

FOR_EACH_KIND(mutex_timed_invalid_but_free, "a timed lock takes a free mutex whatever tv_nsec is") {
  const struct timespec negative = {0, -1}, large = {0, 1000000000};
  EQUAL(pthread_mutex_timedlock(mutex, &negative), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &large), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

FOR_EACH_KIND(mutex_clocked_invalid,
              "a pthread_mutex_clocklock that would block returns EINVAL if tv_nsec is not from 0 to 999999999") {
  struct clocked negative = {CLOCK_MONOTONIC, {0, -1}}, large = {CLOCK_MONOTONIC, {60, 1000000000}},
                 real = {CLOCK_REALTIME, {0, 1000000000}};
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(clocklocks, &negative), EINVAL);
  EQUAL(result_of(clocklocks, &large), EINVAL);
  EQUAL(result_of(clocklocks, &real), EINVAL);
}

FOR_EACH_KIND(mutex_clocked_unknown_clock,
              "pthread_mutex_clocklock returns EINVAL for a clock other than CLOCK_REALTIME and CLOCK_MONOTONIC") {
  const struct timespec at = {60, 0};
  const clockid_t clocks[] = {
      CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW, -1, 1000};
  for (size_t i = 0; i != sizeof clocks / sizeof *clocks; ++i)
    EQUAL(pthread_mutex_clocklock(mutex, clocks[i], &at), EINVAL);
  EQUAL(pthread_mutex_trylock(mutex), 0);
  struct clocked unknown = {CLOCK_PROCESS_CPUTIME_ID, at};
  EQUAL(result_of(clocklocks, &unknown), EINVAL);
}

// --- a waiter that gives up does not disturb the others ---

// Four threads wait. Thread i gives up if bit i of `leaving` is set.
static void leave(unsigned leaving) {
  pthread_t threads[4];
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct timespec soon = deadline(CLOCK_REALTIME, 20), never = {LONG_MAX, 0};
  for (int i = 0; i != 4; ++i) {
    threads[i] = start(waits_until, leaving >> i & 1 ? &soon : &never);
    until_blocked(1);
  }
  for (int i = 0; i != 4; ++i)
    if (leaving >> i & 1) EQUAL((long)join(threads[i]), ETIMEDOUT);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 4; ++i)
    if (!(leaving >> i & 1)) EQUAL((long)join(threads[i]), 0);
  EQUAL(pthread_mutex_trylock(mutex), 0);
}

FOR_EACH_KIND(mutex_first_gives_up, "if the first waiter gives up, the others get the mutex") { leave(1); }
FOR_EACH_KIND(mutex_middle_gives_up, "if the waiters in the middle give up, the others get the mutex") { leave(6); }
FOR_EACH_KIND(mutex_last_gives_up, "if the last waiter gives up, the others get the mutex") { leave(8); }
FOR_EACH_KIND(mutex_every_other_gives_up, "if every other waiter gives up, the others get the mutex") { leave(5); }
FOR_EACH_KIND(mutex_all_give_up, "if all waiters give up, the mutex is free after the unlock") { leave(15); }

static void* gives_up_again_and_again(void* unused) {
  const struct timespec past = {1, 0};
  for (int i = 0; i != 1000; ++i) EQUAL(pthread_mutex_timedlock(mutex, &past), ETIMEDOUT);
  for (int i = 0; i != 50; ++i) {
    const struct timespec soon = deadline(CLOCK_REALTIME, 0);
    EQUAL(pthread_mutex_timedlock(mutex, &soon), ETIMEDOUT);
  }
  return unused;
}

FOR_EACH_KIND(mutex_gives_up_many_times, "a thousand waiters that have given up leave nothing behind") {
  const struct timespec past = {1, 0};
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(gives_up_again_and_again, NULL);
  join(thread);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_timedlock(mutex, &past), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_EACH_KIND(mutex_timed_races_with_unlock,
              "if the mutex is unlocked at the deadline of a timed lock, the call either gets the mutex or times out") {
  for (long i = 0; i != 20; ++i) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    struct timespec soon = deadline(CLOCK_REALTIME, 1);
    const pthread_t thread = start(locks_until, &soon);
    while (!has_passed(CLOCK_REALTIME, soon)) sched_yield();
    EQUAL(pthread_mutex_unlock(mutex), 0);
    const long result = (long)join(thread);
    CHECK(result == 0 || result == ETIMEDOUT);
    EQUAL(pthread_mutex_trylock(mutex), 0);
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
}
