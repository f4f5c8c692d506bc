// SPDX-License-Identifier: Apache-2.0
// Semaphores: several processes, fork, and named semaphores.
#include "semaphore_ways.h"

#include <fcntl.h>
#include <limits.h>

static struct {
  sem_t ping, pong;
  int count;
}* shared;

static void make_shared(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  EQUAL(sem_init(&shared->ping, 1, 0), 0);
  EQUAL(sem_init(&shared->pong, 1, 0), 0);
}

static void return_the_ball(void) {
  for (int i = 0; i != 200; ++i) {
    EQUAL(sem_wait(&shared->ping), 0);
    EQUAL(shared->count++, 2 * i);
    EQUAL(sem_post(&shared->pong), 0);
  }
}

TEST(semaphore_shared_ping_pong,
     "processes wake each other through process-shared semaphores, and see each other's writes") {
  make_shared();
  const pid_t child = in_child(return_the_ball);
  for (int i = 0; i != 200; ++i) {
    EQUAL(sem_post(&shared->ping), 0);
    EQUAL(sem_wait(&shared->pong), 0);
    EQUAL(shared->count++, 2 * i + 1);
  }
  ends_well(child);
  EQUAL(sem_destroy(&shared->ping), 0);
}

static void take_and_give(void) {
  for (int i = 0; i != 100; ++i) {
    EQUAL(sem_wait(&shared->ping), 0);
    ++shared->count;
    EQUAL(sem_post(&shared->ping), 0);
  }
}

TEST(semaphore_shared_as_a_mutex, "a process-shared semaphore of one permit excludes processes from each other") {
  pid_t children[3];
  make_shared();
  EQUAL(sem_post(&shared->ping), 0);
  for (int i = 0; i != 3; ++i) children[i] = in_child(take_and_give);
  take_and_give();
  for (int i = 0; i != 3; ++i) ends_well(children[i]);
  EQUAL(shared->count, 400);
  EQUAL(value_of(&shared->ping), 1);
}

static void time_out(void) {
  const struct timespec real = deadline(CLOCK_REALTIME, 4), monotonic = deadline(CLOCK_MONOTONIC, 8);
  EXPECT_ERRNO(sem_timedwait(&shared->ping, &real), ETIMEDOUT);
  EXPECT_ERRNO(sem_clockwait(&shared->ping, CLOCK_MONOTONIC, &monotonic), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, real) && has_passed(CLOCK_MONOTONIC, monotonic));
  EXPECT_ERRNO(sem_trywait(&shared->ping), EAGAIN);
}

TEST(semaphore_shared_timeout, "timed waits for a process-shared semaphore time out in a child") {
  make_shared();
  ends_well(in_child(time_out));
  time_out();
}

static void take_one(void) { EQUAL(sem_wait(&shared->ping), 0); }

TEST(semaphore_shared_post_before_fork,
     "all processes share the permits that were posted to a process-shared semaphore before a fork") {
  make_shared();
  EQUAL(sem_post(&shared->ping), 0);
  EQUAL(sem_post(&shared->ping), 0);
  ends_well(in_child(take_one));
  EQUAL(value_of(&shared->ping), 1);
  take_one();
  EXPECT_ERRNO(sem_trywait(&shared->ping), EAGAIN);
}

// --- private semaphores ---

static sem_t semaphore;

static void expect_two_permits(void) {
  EQUAL(value_of(&semaphore), 2);
  EQUAL(sem_wait(&semaphore), 0);
  EQUAL(sem_trywait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL(sem_wait(&semaphore), 0);
}

TEST(semaphore_private_across_fork, "a child has its own copy of a semaphore, with the value at the fork") {
  EQUAL(sem_init(&semaphore, 0, 2), 0);
  ends_well(in_child(expect_two_permits));
  EQUAL(sem_wait(&semaphore), 0);
  EQUAL(sem_post(&semaphore), 0);
  ends_well(in_child(expect_two_permits));
  expect_two_permits();
}

static void expect_two_permits_in_grandchild(void) {
  ends_well(in_child(expect_two_permits));
  expect_two_permits();
}

TEST(semaphore_private_across_two_forks, "the child of a child has its own copy, too") {
  EQUAL(sem_init(&semaphore, 0, 2), 0);
  ends_well(in_child(expect_two_permits_in_grandchild));
}

static void* waits(void* unused) {
  will_block();
  EQUAL(sem_wait(&semaphore), 0);
  return unused;
}

static void post_and_take(void) {
  EQUAL(value_of(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  for (int i = 0; i != 5; ++i) {
    EQUAL(sem_post(&semaphore), 0);
    EQUAL(value_of(&semaphore), 1);  // the parent's waiters are not here to take it
    EQUAL(sem_wait(&semaphore), 0);
  }
  const pthread_t thread = start(waits, NULL);
  EQUAL(sem_post(&semaphore), 0);
  join(thread);
}

TEST(semaphore_fork_with_waiters, "waiters of the parent do not exist in the child, and keep waiting") {
  pthread_t threads[3];
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  for (int i = 0; i != 3; ++i) threads[i] = start(waits, NULL);
  until_blocked(3);
  for (int i = 0; i != 3; ++i) ends_well(in_child(post_and_take));
  for (int i = 0; i != 3; ++i) EQUAL(sem_post(&semaphore), 0);
  for (int i = 0; i != 3; ++i) join(threads[i]);
  EQUAL(value_of(&semaphore), 0);
}

// --- named semaphores ---

static const char* own_name(void) {
  static char name[64];
  snprintf(name, sizeof name, "/fairlock-conformance-%d", (int)getpid());
  return name;
}

static void unlink_name(void) { sem_unlink(own_name()); }

static sem_t* open_new(unsigned permits) {
  sem_unlink(own_name());
  sem_t* const named = sem_open(own_name(), O_CREAT | O_EXCL, 0600, permits);
  if (named == SEM_FAILED && (errno == ENOSYS || errno == EACCES || errno == ENOENT))
    SKIP("there are no named semaphores here");
  CHECK(named != SEM_FAILED);
  atexit(unlink_name);
  return named;
}

static int open_error(const char* name, int flags, unsigned permits) {
  errno = 0;
  return sem_open(name, flags, 0600, permits) == SEM_FAILED ? errno : 0;
}

TEST(semaphore_named_works, "a named semaphore has its value, and can be taken, tried, timed out and posted") {
  sem_t* const named = open_new(2);
  const struct timespec past = deadline(CLOCK_REALTIME, -1);
  EQUAL(value_of(named), 2);
  EQUAL(sem_wait(named), 0);
  EQUAL(sem_timedwait(named, &past), 0);
  EXPECT_ERRNO(sem_trywait(named), EAGAIN);
  EXPECT_ERRNO(sem_timedwait(named, &past), ETIMEDOUT);
  EQUAL(sem_post(named), 0);
  EQUAL(value_of(named), 1);
  EQUAL(sem_close(named), 0);
  EQUAL(sem_unlink(own_name()), 0);
}

TEST(semaphore_named_exists,
     "with O_EXCL, sem_open of an existing name fails with EEXIST; without it, sem_open returns the same semaphore") {
  sem_t* const named = open_new(1);
  EQUAL(open_error(own_name(), O_CREAT | O_EXCL, 1), EEXIST);
  sem_t* const again = sem_open(own_name(), O_CREAT, 0600, 7);
  CHECK(again != SEM_FAILED);
  EQUAL(value_of(again), 1);  // its current value
  EQUAL(sem_wait(again), 0);
  EXPECT_ERRNO(sem_trywait(named), EAGAIN);
}

TEST(semaphore_named_is_missing, "sem_open and sem_unlink of a missing name fail with ENOENT") {
  sem_t* const named = open_new(1);
  EQUAL(sem_unlink(own_name()), 0);
  EQUAL(open_error(own_name(), 0, 0), ENOENT);
  EXPECT_ERRNO(sem_unlink(own_name()), ENOENT);
  EQUAL(sem_wait(named), 0);  // a process that has it open may still use it
  EQUAL(sem_close(named), 0);
}

TEST(semaphore_named_value_too_large, "sem_open refuses a value beyond SEM_VALUE_MAX with EINVAL") {
  EQUAL(sem_close(open_new(0)), 0);
  EQUAL(sem_unlink(own_name()), 0);
  EQUAL(open_error(own_name(), O_CREAT | O_EXCL, SEM_VALUE_MAX + 1u), EINVAL);
}

static sem_t* inherited;

static void post_three_times(void) {
  for (int i = 0; i != 3; ++i) EQUAL(sem_post(inherited), 0);
}

TEST(semaphore_named_and_inherited, "a child of a fork shares the named semaphores that were open") {
  inherited = open_new(0);
  const pid_t child = in_child(post_three_times);
  for (int i = 0; i != 3; ++i) EQUAL(sem_wait(inherited), 0);
  ends_well(child);
  EQUAL(value_of(inherited), 0);
}

static const char* name_of_parent;

static void open_and_post(void) {
  sem_t* const named = sem_open(name_of_parent, 0);
  CHECK(named != SEM_FAILED);
  EQUAL(sem_post(named), 0);
  EQUAL(sem_close(named), 0);
}

TEST(semaphore_named_is_shared_by_name, "another process that opens the name has the same semaphore") {
  sem_t* const named = open_new(0);
  name_of_parent = strdup(own_name());
  const pid_t child = in_child(open_and_post);
  EQUAL(sem_wait(named), 0);
  ends_well(child);
}
