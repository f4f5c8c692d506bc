// SPDX-License-Identifier: Apache-2.0
// Conditions: several processes, and fork.
#include "condition_waiters.h"

#include <stdatomic.h>

// A process-shared condition and mutex, in shared memory.
static struct waiters* shared;

static void make_shared(int robust) {
  pthread_mutexattr_t of_mutex;
  pthread_condattr_t of_condition;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  EQUAL(pthread_mutexattr_init(&of_mutex), 0);
  EQUAL(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED), 0);
  EQUAL(pthread_mutexattr_setrobust(&of_mutex, robust), 0);
  EQUAL(pthread_mutex_init(&shared->mutex, &of_mutex), 0);
  EQUAL(pthread_condattr_init(&of_condition), 0);
  EQUAL(pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED), 0);
  EQUAL(pthread_cond_init(&shared->condition, &of_condition), 0);
}

static void wait_in_child(void) { waits_to_go(shared); }

TEST(condition_shared_signal, "a signal reaches a thread of another process that waits on a process-shared condition") {
  make_shared(PTHREAD_MUTEX_STALLED);
  const pid_t child = in_child(wait_in_child);
  lock_when_waiting(shared, 1);
  shared->go = 1;
  EQUAL(pthread_cond_signal(&shared->condition), 0);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  ends_well(child);
  EQUAL(shared->returned, 1);
}

static void wait_in_child_by_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i != 2; ++i) threads[i] = start(waits_to_go, shared);
  for (int i = 0; i != 2; ++i) join(threads[i]);
}

TEST(condition_shared_broadcast,
     "a broadcast reaches all threads of all processes that wait on a process-shared condition") {
  make_shared(PTHREAD_MUTEX_STALLED);
  const pid_t first = in_child(wait_in_child_by_threads), second = in_child(wait_in_child_by_threads);
  const pthread_t thread = start(waits_to_go, shared);
  lock_when_waiting(shared, 5);
  shared->go = 5;
  EQUAL(pthread_cond_broadcast(&shared->condition), 0);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  join(thread);
  ends_well(first);
  ends_well(second);
  EQUAL(pthread_cond_destroy(&shared->condition), 0);
  EQUAL(pthread_mutex_destroy(&shared->mutex), 0);
}

static void play(int me) {
  for (int turn = 0; turn != 300; ++turn) {
    EQUAL(pthread_mutex_lock(&shared->mutex), 0);
    while (shared->go % 2 != me) EQUAL(pthread_cond_wait(&shared->condition, &shared->mutex), 0);
    ++shared->go;
    EQUAL(pthread_cond_signal(&shared->condition), 0);
    EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  }
}

static void play_in_child(void) { play(1); }

TEST(condition_shared_ping_pong, "no signal between processes is lost") {
  make_shared(PTHREAD_MUTEX_STALLED);
  const pid_t child = in_child(play_in_child);
  play(0);
  ends_well(child);
  EQUAL(shared->go, 600);
}

static void time_out_in_child(void) {
  const struct timespec real = deadline(CLOCK_REALTIME, 5);
  EQUAL(pthread_mutex_lock(&shared->mutex), 0);
  EQUAL(pthread_cond_timedwait(&shared->condition, &shared->mutex, &real), ETIMEDOUT);
  const struct timespec monotonic = deadline(CLOCK_MONOTONIC, 5);
  EQUAL(pthread_cond_clockwait(&shared->condition, &shared->mutex, CLOCK_MONOTONIC, &monotonic), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, real) && has_passed(CLOCK_MONOTONIC, monotonic));
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
}

TEST(condition_shared_timeout, "timed waits on a process-shared condition time out in a child") {
  make_shared(PTHREAD_MUTEX_STALLED);
  ends_well(in_child(time_out_in_child));
  time_out_in_child();
}

static void die_with_the_mutex(void) {
  EQUAL(pthread_mutex_lock(&shared->mutex), 0);
  EQUAL(pthread_cond_signal(&shared->condition), 0);
}

static void* waits_for_the_dead(void* condition) {
  EQUAL(pthread_mutex_lock(&shared->mutex), 0);
  ++shared->waiting;
  EQUAL(pthread_cond_wait(condition, &shared->mutex), EOWNERDEAD);
  EQUAL(pthread_mutex_consistent(&shared->mutex), 0);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  return NULL;
}

TEST(condition_shared_owner_dead, "a wait returns EOWNERDEAD if a process ended while it held the robust mutex") {
  make_shared(PTHREAD_MUTEX_ROBUST);
  const pthread_t thread = start(waits_for_the_dead, &shared->condition);
  lock_when_waiting(shared, 1);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  ends_well(in_child(die_with_the_mutex));
  join(thread);
}

TEST(condition_private_owner_dead,
     "a wait on a private condition returns EOWNERDEAD, too, if a process ended with the shared robust mutex") {
  make_shared(PTHREAD_MUTEX_ROBUST);
  pthread_cond_t private = PTHREAD_COND_INITIALIZER;
  const pthread_t thread = start(waits_for_the_dead, &private);
  lock_when_waiting(shared, 1);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  ends_well(in_child(die_with_the_mutex));
  EQUAL(pthread_cond_signal(&private), 0);
  join(thread);
}

TEST(condition_shared_mapped_twice, "a process-shared condition works at every address where it is mapped") {
  const int file = memfd_create("conformance", 0);
  CHECK(file >= 0);
  EQUAL(ftruncate(file, sizeof *shared), 0);
  make_shared(PTHREAD_MUTEX_STALLED);
  const struct waiters initialised = *shared;
  struct waiters* const here = mmap(NULL, sizeof *here, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  struct waiters* const there = mmap(NULL, sizeof *there, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(here != MAP_FAILED && there != MAP_FAILED && here != there);
  *here = initialised;
  const pthread_t thread = start(waits_to_go, here);
  lock_when_waiting(there, 1);
  there->go = 1;
  EQUAL(pthread_cond_signal(&there->condition), 0);
  EQUAL(pthread_mutex_unlock(&there->mutex), 0);
  join(thread);
}

static void* waits_for_ever(void* unused) {
  EQUAL(pthread_mutex_lock(&shared->mutex), 0);
  ++shared->waiting;
  for (;;) pthread_cond_wait(&shared->condition, &shared->mutex);
  return unused;
}

static void wait_for_ever_in_child(void) { waits_for_ever(NULL); }

TEST(condition_shared_killed_waiter,
     "a process that is killed while it waits does not keep signals from other waiters for good") {
  make_shared(PTHREAD_MUTEX_STALLED);
  const pid_t child = in_child(wait_for_ever_in_child);
  const pthread_t thread = start(waits_to_go, shared);
  lock_when_waiting(shared, 2);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  EQUAL(kill(child, SIGKILL), 0);
  int status;
  EQUAL(waitpid(child, &status, 0), child);
  EQUAL(pthread_mutex_lock(&shared->mutex), 0);
  shared->go = 1;
  EQUAL(pthread_cond_broadcast(&shared->condition), 0);
  EQUAL(pthread_mutex_unlock(&shared->mutex), 0);
  join(thread);
}

// --- private conditions, across fork ---

static struct waiters private = WAITERS;

// A thread waits, is woken, and returns.
static void use_private(void) {
  private.waiting = private.go = 0;
  const pthread_t thread = start(waits_to_go, &private);
  lock_when_waiting(&private, 1);
  private.go = 1;
  EQUAL(pthread_cond_signal(&private.condition), 0);
  EQUAL(pthread_mutex_unlock(&private.mutex), 0);
  join(thread);
}

TEST(condition_used_before_a_fork, "a condition that was used before a fork works in the parent and in the child") {
  use_private();
  for (int i = 0; i != 3; ++i) {
    const pid_t child = in_child(use_private);
    use_private();
    ends_well(child);
  }
}

static void use_private_in_grandchild(void) {
  use_private();
  ends_well(in_child(use_private));
  use_private();
}

TEST(condition_used_by_a_grandchild, "a condition works in the child of a child") {
  use_private();
  ends_well(in_child(use_private_in_grandchild));
  use_private();
}

TEST(condition_first_used_in_a_child, "a condition that was never used before a fork works in the child") {
  ends_well(in_child(use_private));
}

static void use_new_ones(void) {
  EQUAL(pthread_cond_init(&private.condition, NULL), 0);
  EQUAL(pthread_mutex_init(&private.mutex, NULL), 0);
  use_private();
  EQUAL(pthread_cond_destroy(&private.condition), 0);
}

TEST(condition_waiters_during_a_fork,
     "waiters of the parent keep waiting while the parent forks, and the child has its own copy of each condition") {
  pthread_t threads[3];
  for (int i = 0; i != 3; ++i) threads[i] = start(waits_to_go, &private);
  lock_when_waiting(&private, 3);
  EQUAL(pthread_mutex_unlock(&private.mutex), 0);
  for (int i = 0; i != 3; ++i) ends_well(in_child(use_new_ones));
  EQUAL(pthread_mutex_lock(&private.mutex), 0);
  EQUAL(private.returned, 0);
  private.go = 3;
  EQUAL(pthread_cond_broadcast(&private.condition), 0);
  EQUAL(pthread_mutex_unlock(&private.mutex), 0);
  for (int i = 0; i != 3; ++i) join(threads[i]);
}

static atomic_bool stop;

static void* plays_alone(void* unused) {
  static struct waiters own = WAITERS;
  EQUAL(pthread_mutex_lock(&own.mutex), 0);
  while (!stop) {
    const struct timespec at = deadline(CLOCK_REALTIME, 0);
    EQUAL(pthread_cond_timedwait(&own.condition, &own.mutex, &at), ETIMEDOUT);
  }
  EQUAL(pthread_mutex_unlock(&own.mutex), 0);
  return unused;
}

TEST(condition_forks_among_waits, "a fork among waits and timeouts of other threads disturbs neither process") {
  const pthread_t thread = start(plays_alone, NULL);
  for (int i = 0; i != 10; ++i) ends_well(in_child(use_private));
  stop = true;
  join(thread);
}
