// SPDX-License-Identifier: Apache-2.0
// Semaphores: waits and posts.
#include "semaphore_ways.h"

#include <stdatomic.h>

enum { many = 8 };
static sem_t semaphore;
static atomic_int taken;

static void* takes(void* unused) {
  will_block();
  EQUAL(sem_wait(&semaphore), 0);
  ++taken;
  return unused;
}

static void start_takers(pthread_t* threads, int count) {
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  for (int i = 0; i != count; ++i) threads[i] = start(takes, NULL);
  until_blocked(count);
  EQUAL(taken, 0);
}

static void join_all(const pthread_t* threads, int count) {
  for (int i = 0; i != count; ++i) join(threads[i]);
}

TEST(semaphore_wait_blocks, "sem_wait waits until there is a permit") {
  pthread_t threads[1];
  start_takers(threads, 1);
  EQUAL(sem_post(&semaphore), 0);
  join_all(threads, 1);
  EQUAL(value_of(&semaphore), 0);
}

TEST(semaphore_value_with_waiters, "the value of a semaphore that threads wait for is 0") {
  pthread_t threads[3];
  start_takers(threads, 3);
  EQUAL(value_of(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  for (int i = 0; i != 3; ++i) EQUAL(sem_post(&semaphore), 0);
  join_all(threads, 3);
  EQUAL(value_of(&semaphore), 0);
}

static void* gives_and_takes(void* unused) {
  while (!taken) {
    EQUAL(sem_post(&semaphore), 0);
    EQUAL(sem_wait(&semaphore), 0);
  }
  return unused;
}

static void hold_up(int number) {
  (void)number;
  nap(0);
}

TEST(semaphore_value_that_was,
     "sem_getvalue returns a value that the semaphore had during the call, even if the call takes a long time") {
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  const pthread_t other = start(gives_and_takes, NULL);
  const struct sigaction action = {.sa_handler = hold_up, .sa_flags = SA_RESTART};
  EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1, ._sigev_un._tid = gettid()};
  const struct itimerspec once = {{0, 0}, {0, 20000}};
  timer_t timer;
  EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const struct timespec end = deadline(CLOCK_MONOTONIC, 60);
  while (!has_passed(CLOCK_MONOTONIC, end)) {
    EQUAL(timer_settime(timer, 0, &once, NULL), 0);
    for (int i = 0; i != 1000; ++i) {
      const int value = value_of(&semaphore);
      CHECK(value == 0 || value == 1);
    }
  }
  EQUAL(timer_delete(timer), 0);
  taken = 1;
  join(other);
}

TEST(semaphore_post_wakes_one, "each post ends exactly one more wait") {
  pthread_t threads[4];
  start_takers(threads, 4);
  for (int i = 1; i <= 4; ++i) {
    EQUAL(sem_post(&semaphore), 0);
    while (taken != i) sched_yield();
    nap(1);
    EQUAL(taken, i);
  }
  join_all(threads, 4);
}

TEST(semaphore_many_posts_at_once, "one post for each waiter ends all waits") {
  pthread_t threads[many];
  start_takers(threads, many);
  for (int i = 0; i != many; ++i) EQUAL(sem_post(&semaphore), 0);
  join_all(threads, many);
  EQUAL(value_of(&semaphore), 0);
}

TEST(semaphore_more_posts_than_waiters, "posts beyond the number of waiters are kept") {
  pthread_t threads[3];
  start_takers(threads, 3);
  for (int i = 0; i != 10; ++i) EQUAL(sem_post(&semaphore), 0);
  join_all(threads, 3);
  EQUAL(value_of(&semaphore), 7);
  for (int i = 0; i != 7; ++i) EQUAL(sem_wait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
}

TEST(semaphore_posts_before_waits,
     "permits that were posted before any wait end the same number of later waits at once") {
  pthread_t threads[many];
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  for (int i = 0; i != many; ++i) EQUAL(sem_post(&semaphore), 0);
  for (int i = 0; i != many; ++i) threads[i] = start(takes, NULL);
  join_all(threads, many);
  EQUAL(value_of(&semaphore), 0);
}

TEST(semaphore_initial_permits, "as many threads enter at once as the semaphore had permits, and the others wait") {
  pthread_t threads[many];
  EQUAL(sem_init(&semaphore, 0, 3), 0);
  for (int i = 0; i != many; ++i) threads[i] = start(takes, NULL);
  until_blocked(many);  // or have ended
  EQUAL(taken, 3);
  for (int i = 3; i != many; ++i) EQUAL(sem_post(&semaphore), 0);
  join_all(threads, many);
}

static void* posts(void* count) {
  for (long i = 0; i != (long)count; ++i) EQUAL(sem_post(&semaphore), 0);
  return NULL;
}

static void* takes_many(void* count) {
  for (long i = 0; i != (long)count; ++i) EQUAL(sem_wait(&semaphore), 0);
  return NULL;
}

TEST(semaphore_many_of_both, "when four threads post and four wait, each post ends one wait") {
  pthread_t threads[many];
  const long count = turns(500);
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  for (int i = 0; i != many; ++i) threads[i] = start(i % 2 != 0 ? posts : takes_many, (void*)count);
  join_all(threads, many);
  EQUAL(value_of(&semaphore), 0);
}

static void* takes_and_gives(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    EQUAL(sem_wait(&semaphore), 0);
    EQUAL(sem_post(&semaphore), 0);
  }
  return NULL;
}

TEST(semaphore_permits_are_conserved,
     "after eight threads have taken and returned permits, there are as many permits as before") {
  for (unsigned permits = 1; permits != 4; ++permits) {
    pthread_t threads[many];
    EQUAL(sem_init(&semaphore, 0, permits), 0);
    for (int i = 0; i != many; ++i) threads[i] = start(takes_and_gives, (void*)turns(200));
    join_all(threads, many);
    EQUAL(value_of(&semaphore), permits);
    for (unsigned i = 0; i != permits; ++i) EQUAL(sem_trywait(&semaphore), 0);
    EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  }
}

// In every possible way; some calls give up.
static void* takes_in_every_way(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    const struct timespec real = deadline(CLOCK_REALTIME, i % 3 - 1), monotonic = deadline(CLOCK_MONOTONIC, i % 2);
    const int result = i % 4 == 0   ? sem_wait(&semaphore)
                       : i % 4 == 1 ? sem_trywait(&semaphore)
                       : i % 4 == 2 ? sem_timedwait(&semaphore, &real)
                                    : sem_clockwait(&semaphore, CLOCK_MONOTONIC, &monotonic);
    if (result != 0) CHECK(errno == EAGAIN || errno == ETIMEDOUT);
    else EQUAL(sem_post(&semaphore), 0);
  }
  return NULL;
}

TEST(semaphore_permits_are_conserved_in_every_way,
     "the number of permits stays the same even if some threads try, and some give up at a deadline") {
  pthread_t threads[many];
  EQUAL(sem_init(&semaphore, 0, 2), 0);
  for (int i = 0; i != many; ++i) threads[i] = start(takes_in_every_way, (void*)turns(200));
  join_all(threads, many);
  EQUAL(value_of(&semaphore), 2);
}

// --- uses of semaphores in programs ---

static long counter;
static atomic_int inside;

static void* counts(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    EQUAL(sem_wait(&semaphore), 0);
    EQUAL(++inside, 1);
    ++counter;
    --inside;
    EQUAL(sem_post(&semaphore), 0);
  }
  return NULL;
}

TEST(semaphore_as_a_mutex, "a semaphore with one permit admits one thread at a time, which sees all earlier writes") {
  pthread_t threads[4];
  EQUAL(sem_init(&semaphore, 0, 1), 0);
  for (int i = 0; i != 4; ++i) threads[i] = start(counts, (void*)turns(400));
  join_all(threads, 4);
  EQUAL(counter, 4 * turns(400));
}

static void* stays_a_moment(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    EQUAL(sem_wait(&semaphore), 0);
    CHECK(++inside <= 3);
    sched_yield();
    --inside;
    EQUAL(sem_post(&semaphore), 0);
  }
  return NULL;
}

TEST(semaphore_bounds_concurrency, "a semaphore with three permits never admits more than three threads") {
  pthread_t threads[many];
  EQUAL(sem_init(&semaphore, 0, 3), 0);
  for (int i = 0; i != many; ++i) threads[i] = start(stays_a_moment, (void*)turns(100));
  join_all(threads, many);
}

static sem_t ping, pong;
static long ball;

static void* returns_the_ball(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    EQUAL(sem_wait(&ping), 0);
    EQUAL(ball++, 2 * i);
    EQUAL(sem_post(&pong), 0);
  }
  return NULL;
}

TEST(semaphore_ping_pong, "two threads wake each other in turn, and each sees the other's writes") {
  EQUAL(sem_init(&ping, 0, 1), 0);
  EQUAL(sem_init(&pong, 0, 0), 0);
  const long count = turns(1500);
  const pthread_t thread = start(returns_the_ball, (void*)count);
  for (long i = 0; i != count; ++i) {
    EQUAL(sem_wait(&pong), 0);
    EQUAL(ball++, 2 * i + 1);
    EQUAL(sem_post(&ping), 0);
  }
  join(thread);
  EQUAL(value_of(&ping), 1);
}

static int written[5];
static sem_t items, room, turn;
static int next_in, next_out;

static void* produces(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    EQUAL(sem_wait(&room), 0);
    EQUAL(sem_wait(&turn), 0);
    written[next_in++ % 5] = 1;
    EQUAL(sem_post(&turn), 0);
    EQUAL(sem_post(&items), 0);
  }
  return NULL;
}

static void* consumes(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    EQUAL(sem_wait(&items), 0);
    EQUAL(sem_wait(&turn), 0);
    EQUAL(written[next_out % 5], 1);
    written[next_out++ % 5] = 0;
    EQUAL(sem_post(&turn), 0);
    EQUAL(sem_post(&room), 0);
  }
  return NULL;
}

TEST(semaphore_bounded_buffer, "a bounded buffer made of three semaphores loses nothing, and never overflows") {
  pthread_t threads[4];
  EQUAL(sem_init(&items, 0, 0), 0);
  EQUAL(sem_init(&room, 0, 5), 0);
  EQUAL(sem_init(&turn, 0, 1), 0);
  for (int i = 0; i != 4; ++i) threads[i] = start(i % 2 != 0 ? produces : consumes, (void*)turns(200));
  join_all(threads, 4);
  EQUAL(value_of(&items), 0);
  EQUAL(value_of(&room), 5);
}
