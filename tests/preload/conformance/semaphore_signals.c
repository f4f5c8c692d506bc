// SPDX-License-Identifier: Apache-2.0
// Semaphores: signals to waiters, and handlers that post.
#include "semaphore_ways.h"

#include <stdatomic.h>

static sem_t semaphore, other;
static atomic_int handled;
static atomic_bool done;

static void handle(int number) {
  (void)number;
  ++handled;
}

static void post(int number) {
  (void)number;
  const int before = errno;
  EQUAL(sem_post(&semaphore), 0);
  ++handled;
  errno = before;
}

static void install(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
}

static int (*wait_as)(sem_t*);

static void* waits(void* unused) {
  (void)unused;
  will_block();
  errno = 0;
  const int result = wait_as(&semaphore) == 0 ? 0 : errno;
  done = true;
  return (void*)(long)result;
}

static pthread_t begin(int (*how)(sem_t*), void (*handler)(int), int flags) {
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  install(handler, flags);
  wait_as = how;
  const pthread_t thread = start(waits, NULL);
  until_blocked(1);
  return thread;
}

// A signal may arrive while the thread is between two sleeps, so this sends several, until the wait ends.
static void expect_interrupted(int (*how)(sem_t*)) {
  if (never_sleeps()) return;  // no thread sleeps, so a handler can wake none
  const pthread_t thread = begin(how, handle, 0);
  while (!done) {
    pthread_kill(thread, SIGUSR1);
    nap(0);
  }
  EQUAL((long)join(thread), EINTR);
  CHECK(handled > 0);
  EQUAL(value_of(&semaphore), 0);
  EQUAL(sem_post(&semaphore), 0);  // the interrupted thread is no longer in the line
  EQUAL(sem_trywait(&semaphore), 0);
}

TEST(semaphore_wait_interrupted, "a handler that runs ends sem_wait with EINTR") { expect_interrupted(sem_wait); }
TEST(semaphore_timedwait_interrupted, "a handler that runs ends sem_timedwait with EINTR") {
  expect_interrupted(wait_timed);
}
TEST(semaphore_clockwait_interrupted, "a handler that runs ends sem_clockwait with EINTR") {
  expect_interrupted(wait_clocked);
}

// Handlers with SA_RESTART run several times, and then a permit comes.
static void expect_restarted(int (*how)(sem_t*), bool may_be_interrupted) {
  const pthread_t thread = begin(how, handle, SA_RESTART);
  for (int i = 0; i != 20 && !done; ++i) {
    const int before = handled;
    EQUAL(pthread_kill(thread, SIGUSR1), 0);
    while (handled == before) sched_yield();
    nap(0);
  }
  CHECK(may_be_interrupted || !done);
  EQUAL(sem_post(&semaphore), 0);
  const long result = (long)join(thread);
  CHECK(result == 0 || (may_be_interrupted && result == EINTR));
  EQUAL(value_of(&semaphore), result == 0 ? 0 : 1);
}

TEST(semaphore_wait_restarted, "sem_wait continues after a handler with SA_RESTART") {
  expect_restarted(sem_wait, false);
}

static void* takes_turns(void* unused) {
  (void)unused;
  while (!done) {
    EQUAL(sem_wait(&semaphore), 0);
    sched_yield();  // so that others have to wait
    EQUAL(sem_post(&semaphore), 0);
  }
  return NULL;
}

TEST(semaphore_contended_restarted,
     "sem_wait continues after a handler with SA_RESTART, even while other threads come and go") {
  EQUAL(sem_init(&semaphore, 0, 1), 0);
  install(handle, SA_RESTART);
  pthread_t threads[4];
  for (int i = 0; i != 4; ++i) threads[i] = start(takes_turns, NULL);
  for (long i = 0; i != turns(400); ++i) {
    EQUAL(pthread_kill(threads[i % 4], SIGUSR1), 0);
    nap(0);
  }
  done = true;
  for (int i = 0; i != 4; ++i) join(threads[i]);
  EQUAL(value_of(&semaphore), 1);
}

// The kernel restarts no sleep that has a deadline, although POSIX demands it.
TEST(semaphore_timedwait_restarted,
     "sem_timedwait continues after a handler with SA_RESTART, or fails with EINTR and takes no permit") {
  expect_restarted(wait_timed, true);
}

TEST(semaphore_interrupted_by_an_ignored_signal, "a signal that is ignored does not end a wait") {
  const pthread_t thread = begin(sem_wait, SIG_IGN, 0);
  for (int i = 0; i != 10; ++i) {
    EQUAL(pthread_kill(thread, SIGUSR1), 0);
    nap(0);
  }
  CHECK(!done);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL((long)join(thread), 0);
}

TEST(semaphore_interrupted_by_a_blocked_signal, "a signal that is blocked does not end a wait") {
  sigset_t set;
  EQUAL(sigemptyset(&set), 0);
  EQUAL(sigaddset(&set, SIGUSR1), 0);
  EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  const pthread_t thread = begin(sem_wait, handle, 0);
  EQUAL(pthread_kill(thread, SIGUSR1), 0);
  nap(5);
  CHECK(!done);
  EQUAL(handled, 0);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL((long)join(thread), 0);
}

TEST(semaphore_interrupted_and_posted,
     "a handler that posts the semaphore its thread waits for ends the wait, and no permit is lost") {
  for (int turn = 0; turn != 20; ++turn) {
    done = false;
    const pthread_t thread = begin(turn % 2 != 0 ? sem_wait : wait_timed, post, 0);
    EQUAL(pthread_kill(thread, SIGUSR1), 0);
    const long result = (long)join(thread);
    CHECK(result == 0 || result == EINTR);
    EQUAL(value_of(&semaphore), result == 0 ? 0 : 1);
  }
}

TEST(semaphore_interrupted_and_posted_restart, "with SA_RESTART, the wait gets the permit that the handler posted") {
  for (int turn = 0; turn != 20; ++turn) {
    done = false;
    const pthread_t thread = begin(sem_wait, post, SA_RESTART);
    EQUAL(pthread_kill(thread, SIGUSR1), 0);
    EQUAL((long)join(thread), 0);
    EQUAL(value_of(&semaphore), 0);
  }
}

// --- a handler that posts, wherever it interrupts ---

static pthread_t main_thread;

static void* interrupts(void* count) {
  for (long i = 0; i != (long)count; ++i) {
    const int before = handled;
    EQUAL(pthread_kill(main_thread, SIGUSR1), 0);
    while (handled == before) sched_yield();
  }
  done = true;
  return NULL;
}

static int take(void) {
  int result;
  while ((result = sem_wait(&semaphore)) != 0) EQUAL(errno, EINTR);
  return 1;
}

static pthread_t begin_interrupting(void) {
  main_thread = pthread_self();
  install(post, 0);
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  EQUAL(sem_init(&other, 0, 0), 0);
  return start(interrupts, (void*)turns(200));
}

TEST(semaphore_handler_posts_during_wait, "a handler that interrupts sem_wait may post the same semaphore") {
  const pthread_t thread = begin_interrupting();
  for (long taken = 0; taken != turns(200);) taken += take();
  join(thread);
  EQUAL(value_of(&semaphore), 0);
}

TEST(semaphore_handler_posts_during_post, "a handler that interrupts sem_post may post the same semaphore") {
  int posted = 0, taken = 0;
  const pthread_t thread = begin_interrupting();
  while (!done) {
    EQUAL(sem_post(&semaphore), 0);
    ++posted;
    if (posted % 2 == 0) taken += take();
  }
  join(thread);
  EQUAL(value_of(&semaphore), posted - taken + handled);
}

TEST(semaphore_handler_posts_during_timeouts,
     "a handler that interrupts a wait that times out may post the same semaphore") {
  int taken = 0;
  const pthread_t thread = begin_interrupting();
  while (!done) {
    const struct timespec now = deadline(CLOCK_REALTIME, 0);
    if (sem_timedwait(&semaphore, &now) == 0) ++taken;
    else CHECK(errno == ETIMEDOUT || errno == EINTR);
  }
  join(thread);
  EQUAL(taken + value_of(&semaphore), handled);
}

static void* takes_all(void* unused) {
  for (long i = 0; i != turns(200); ++i) take();
  return unused;
}

TEST(semaphore_handler_posts_to_others,
     "a handler may post for another thread, whatever lock or condition its own thread is using") {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const pthread_t thread = begin_interrupting(), taker = start(takes_all, NULL);
  EQUAL(pthread_mutex_lock(&mutex), 0);
  while (!done) {
    const struct timespec now = deadline(CLOCK_REALTIME, 0);
    const int result = pthread_cond_timedwait(&condition, &mutex, &now);
    CHECK(result == 0 || result == ETIMEDOUT);
    EQUAL(pthread_cond_signal(&condition), 0);
    EQUAL(sem_post(&other), 0);
    EQUAL(sem_trywait(&other), 0);
  }
  join(thread);
  join(taker);
  EQUAL(value_of(&semaphore), 0);
}

// Several threads wait, and some give up, while a handler in each of them posts.
static void* gives_up(void* count) {
  int* const taken = count;
  while (!done) {
    const struct timespec soon = deadline(CLOCK_MONOTONIC, *taken % 2);
    errno = 0;
    if (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &soon) == 0) ++*taken;
    else CHECK(errno == ETIMEDOUT || errno == EINTR);
  }
  return NULL;
}

TEST(semaphore_handlers_post_among_waiters,
     "when threads wait and give up, and the handlers that interrupt them post, no permit is lost") {
  pthread_t threads[3];
  int taken[3] = {0};
  install(post, 0);
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  for (int i = 0; i != 3; ++i) threads[i] = start(gives_up, &taken[i]);
  const int count = (int)turns(100);
  for (int i = 0; i != count; ++i) {
    EQUAL(pthread_kill(threads[i % 3], SIGUSR1), 0);
    while (handled <= i) sched_yield();
  }
  done = true;
  for (int i = 0; i != 3; ++i) join(threads[i]);
  EQUAL(taken[0] + taken[1] + taken[2] + value_of(&semaphore), count);
}

static void* receives(void* unused) {
  for (int i = 0; i != 50; ++i) take();
  return unused;
}

TEST(semaphore_posted_by_a_timer, "the handler of a timer's signal may post, to wake a thread that waits") {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  const struct itimerspec often = {{0, 300000}, {0, 300000}};
  install(post, SA_RESTART);
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  const pthread_t one = start(receives, NULL), another = start(receives, NULL);
  EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  EQUAL(timer_settime(timer, 0, &often, NULL), 0);
  join(one);
  join(another);
  EQUAL(timer_delete(timer), 0);
}
