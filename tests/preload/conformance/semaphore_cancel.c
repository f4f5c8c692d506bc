// SPDX-License-Identifier: Apache-2.0
// Semaphores: cancellation of waiters.
#include "semaphore_ways.h"

#include <stdatomic.h>

static sem_t semaphore;
static atomic_int handled, taken;

static int (*wait_as)(sem_t*);

static void handle(void* unused) {
  (void)unused;
  ++handled;
}

static void* waits(void* unused) {
  pthread_cleanup_push(handle, NULL);
  will_block();
  EQUAL(wait_as(&semaphore), 0);
  ++taken;
  pthread_cleanup_pop(0);
  return unused;
}

static pthread_t begin(int (*how)(sem_t*)) {
  handled = taken = 0;
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  wait_as = how;
  return start(waits, NULL);
}

static void expect_cancelled(int (*how)(sem_t*)) {
  for (int turn = 0; turn != 10; ++turn) {
    const pthread_t thread = begin(how);
    until_blocked(1);
    EQUAL(pthread_cancel(thread), 0);
    CHECK(join(thread) == PTHREAD_CANCELED);
    EQUAL(handled, 1);
    EQUAL(value_of(&semaphore), 0);
    EQUAL(sem_post(&semaphore), 0);  // the cancelled thread is no longer in the line
    EQUAL(value_of(&semaphore), 1);
    EQUAL(sem_trywait(&semaphore), 0);
    EQUAL(sem_destroy(&semaphore), 0);
  }
}

TEST(semaphore_wait_cancelled, "sem_wait is a cancellation point") { expect_cancelled(sem_wait); }
TEST(semaphore_timedwait_cancelled, "sem_timedwait is a cancellation point") { expect_cancelled(wait_timed); }
TEST(semaphore_clockwait_cancelled, "sem_clockwait is a cancellation point") { expect_cancelled(wait_clocked); }

// Cancels its own thread, then waits.
static void* waits_with_a_pending_cancellation(void* unused) {
  EQUAL(pthread_cancel(pthread_self()), 0);
  return waits(unused);
}

static void expect_pending_acted_upon(int (*how)(sem_t*), unsigned permits) {
  handled = taken = 0;
  EQUAL(sem_init(&semaphore, 0, permits), 0);
  wait_as = how;
  CHECK(join(start(waits_with_a_pending_cancellation, NULL)) == PTHREAD_CANCELED);
  EQUAL(handled, 1);
  EQUAL(taken, 0);
  EQUAL(value_of(&semaphore), permits);
}

TEST(semaphore_pending_cancellation, "a cancellation that is pending when a thread begins to wait is acted upon") {
  expect_pending_acted_upon(sem_wait, 0);
  expect_pending_acted_upon(wait_timed, 0);
  expect_pending_acted_upon(wait_clocked, 0);
}

// Not for sem_clockwait, where glibc does not check for a pending cancellation.
TEST(semaphore_pending_cancellation_with_permits,
     "a pending cancellation takes effect even if there is a permit, which stays") {
  expect_pending_acted_upon(sem_wait, 1);
  expect_pending_acted_upon(sem_wait, 5);
  expect_pending_acted_upon(wait_timed, 1);
}

static int wait_past(sem_t* any) {
  const struct timespec at = deadline(CLOCK_REALTIME, -1);
  return sem_timedwait(any, &at);
}

TEST(semaphore_pending_cancellation_past_deadline,
     "a pending cancellation is acted upon even if the deadline has passed") {
  expect_pending_acted_upon(wait_past, 0);
  expect_pending_acted_upon(wait_past, 1);
}

static void* does_not_wait(void* unused) {
  int value;
  EQUAL(pthread_cancel(pthread_self()), 0);
  for (int i = 0; i != 10; ++i) {
    EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
    EQUAL(sem_post(&semaphore), 0);
    EQUAL(sem_getvalue(&semaphore, &value), 0);
    EQUAL(sem_trywait(&semaphore), 0);
  }
  EQUAL(sem_destroy(&semaphore), 0);
  EQUAL(sem_init(&semaphore, 0, 7), 0);
  taken = 7;
  pthread_testcancel();
  return unused;
}

TEST(semaphore_what_is_no_cancellation_point,
     "sem_post, sem_trywait, sem_getvalue, sem_init and sem_destroy are no cancellation points") {
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  CHECK(join(start(does_not_wait, NULL)) == PTHREAD_CANCELED);
  EQUAL(taken, 7);
}

static void* waits_disabled(void* unused) {
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
  waits(NULL);
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
  pthread_testcancel();
  return unused;
}

TEST(semaphore_cancellation_disabled,
     "a thread that has disabled cancellation keeps waiting, and is cancelled when it enables cancellation") {
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  wait_as = sem_wait;
  const pthread_t thread = start(waits_disabled, NULL);
  until_blocked(1);
  EQUAL(pthread_cancel(thread), 0);
  nap(5);
  EQUAL(taken, 0);
  EQUAL(sem_post(&semaphore), 0);
  CHECK(join(thread) == PTHREAD_CANCELED);
  EQUAL(taken, 1);
  EQUAL(handled, 0);
}

TEST(semaphore_cancellation_disabled_pending,
     "while cancellation is disabled, a pending cancellation does not keep a thread from its permit") {
  EQUAL(sem_init(&semaphore, 0, 2), 0);
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
  EQUAL(pthread_cancel(pthread_self()), 0);
  EQUAL(sem_wait(&semaphore), 0);
  const struct timespec soon = deadline(CLOCK_REALTIME, 3);
  EQUAL(sem_timedwait(&semaphore, &soon), 0);
  EXPECT_ERRNO(sem_timedwait(&semaphore, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon));
}

static void* keeps_its_type(void* given) {
  const int type = (int)(long)given;
  EQUAL(pthread_setcanceltype(type, NULL), 0);
  for (int i = 0; i != 3; ++i) {
    const struct timespec at = deadline(CLOCK_REALTIME, 2 * i - 1);
    int now;
    EXPECT_ERRNO(sem_timedwait(&semaphore, &at), ETIMEDOUT);
    EQUAL(pthread_setcanceltype(type, &now), 0);
    EQUAL(now, type);
  }
  return NULL;
}

TEST(semaphore_keeps_the_cancellation_type, "a wait does not change the cancellation type of the thread") {
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  join(start(keeps_its_type, (void*)(long)PTHREAD_CANCEL_DEFERRED));
  join(start(keeps_its_type, (void*)(long)PTHREAD_CANCEL_ASYNCHRONOUS));
}

// --- a cancelled waiter takes no permit with it ---

static void expect_no_permit_lost(bool cancel_first, bool asleep) {
  for (int turn = 0; turn != 40; ++turn) {
    const pthread_t thread = begin(turn % 2 != 0 ? sem_wait : wait_timed);
    if (asleep) until_blocked(1);
    if (cancel_first) EQUAL(pthread_cancel(thread), 0);
    EQUAL(sem_post(&semaphore), 0);
    if (!cancel_first) EQUAL(pthread_cancel(thread), 0);
    const bool cancelled = join(thread) == PTHREAD_CANCELED;
    EQUAL(taken, !cancelled);
    EQUAL(value_of(&semaphore), cancelled ? 1 : 0);
  }
}

TEST(semaphore_cancelled_before_a_post,
     "a waiter that is cancelled just before a post either gets the permit or leaves it available") {
  expect_no_permit_lost(true, true);
}
TEST(semaphore_cancelled_after_a_post,
     "a waiter that is cancelled just after a post either gets the permit or leaves it available") {
  expect_no_permit_lost(false, true);
}
TEST(semaphore_cancelled_on_arrival, "the same for a thread that may not have begun to wait yet") {
  expect_no_permit_lost(true, false);
  expect_no_permit_lost(false, false);
}

// If the first waiter is woken and cancelled at once, glibc leaves the permit available and the second waiter asleep.
// Another post wakes the second waiter.
TEST(semaphore_cancelled_beside_others,
     "when a waiter is cancelled as a permit comes, another waiter can still get this permit or the next") {
  for (int turn = 0; turn != 30; ++turn) {
    const pthread_t first = begin(sem_wait);
    until_blocked(1);
    const pthread_t second = start(waits, NULL);
    until_blocked(1);
    EQUAL(turn % 2 != 0 ? pthread_cancel(first) : sem_post(&semaphore), 0);
    EQUAL(turn % 2 == 0 ? pthread_cancel(first) : sem_post(&semaphore), 0);
    const bool cancelled = join(first) == PTHREAD_CANCELED;
    EQUAL(sem_post(&semaphore), 0);
    join(second);
    EQUAL(value_of(&semaphore), cancelled ? 1 : 0);
  }
}

TEST(semaphore_cancelled_in_the_middle,
     "waiters that are cancelled in the middle of the line take no permit with them") {
  enum { count = 9 };
  pthread_t threads[count];
  threads[0] = begin(sem_wait);
  for (int i = 1; i != count; ++i) {
    until_blocked(1);
    threads[i] = start(waits, NULL);
  }
  until_blocked(1);
  for (int i = 1; i < count; i += 3) EQUAL(pthread_cancel(threads[i]), 0);
  for (int i = 1; i < count; i += 3) CHECK(join(threads[i]) == PTHREAD_CANCELED);
  for (int i = 0; i != count / 3 * 2; ++i) EQUAL(sem_post(&semaphore), 0);
  for (int i = 0; i != count; ++i)
    if (i % 3 != 1) join(threads[i]);
  EQUAL(value_of(&semaphore), 0);
}

TEST(semaphore_cancelled_all_at_once, "many waiters can be cancelled at once, and then all permits are available") {
  pthread_t threads[8];
  threads[0] = begin(sem_wait);
  for (int i = 1; i != 8; ++i) threads[i] = start(waits, NULL);
  until_blocked(8);
  for (int i = 0; i != 8; ++i) EQUAL(pthread_cancel(threads[i]), 0);
  for (int i = 0; i != 5; ++i) EQUAL(sem_post(&semaphore), 0);
  int cancelled = 0;
  for (int i = 0; i != 8; ++i) cancelled += join(threads[i]) == PTHREAD_CANCELED;
  EQUAL(handled, cancelled);
  EQUAL(taken, 8 - cancelled);
  EQUAL(value_of(&semaphore), 5 - taken);
}

static void post(void* any) { EQUAL(sem_post(any), 0); }

static void* waits_to_post(void* unused) {
  pthread_cleanup_push(post, &semaphore);
  will_block();
  EQUAL(sem_wait(&semaphore), 0);
  pthread_cleanup_pop(0);
  return unused;
}

TEST(semaphore_handler_of_a_cancelled_wait_posts, "a handler of a cancelled wait may post the same semaphore") {
  const pthread_t thread = begin(sem_wait);
  until_blocked(1);
  const pthread_t cancelled = start(waits_to_post, NULL);
  until_blocked(1);
  EQUAL(pthread_cancel(cancelled), 0);
  CHECK(join(cancelled) == PTHREAD_CANCELED);
  join(thread);
  EQUAL(value_of(&semaphore), 0);
}
