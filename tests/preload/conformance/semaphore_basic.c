// SPDX-License-Identifier: Apache-2.0
// Semaphores: initialisation, destruction, and calls that need not wait.
#include "semaphore_ways.h"

#include <limits.h>
#include <stdatomic.h>

TEST(semaphore_initial_values, "sem_init gives a semaphore its value, from 0 to SEM_VALUE_MAX") {
  static const unsigned values[] = {0, 1, 2, 1000, SEM_VALUE_MAX - 1, SEM_VALUE_MAX};
  for (int i = 0; i != 6; ++i) {
    sem_t semaphore;
    memset(&semaphore, 0xA5, sizeof semaphore);
    EQUAL(sem_init(&semaphore, 0, values[i]), 0);
    EQUAL(value_of(&semaphore), values[i]);
    EQUAL(sem_destroy(&semaphore), 0);
  }
}

TEST(semaphore_initial_value_too_large, "sem_init refuses a value beyond SEM_VALUE_MAX with EINVAL") {
  sem_t semaphore;
  EXPECT_ERRNO(sem_init(&semaphore, 0, SEM_VALUE_MAX + 1u), EINVAL);
  EXPECT_ERRNO(sem_init(&semaphore, 0, UINT_MAX), EINVAL);
}

TEST(semaphore_initial_value_too_large_shared, "the same for process-shared semaphores") {
  sem_t semaphore;
  EXPECT_ERRNO(sem_init(&semaphore, 1, SEM_VALUE_MAX + 1u), EINVAL);
  EXPECT_ERRNO(sem_init(&semaphore, 1, UINT_MAX), EINVAL);
}

TEST(semaphore_shared_works_in_one_process, "a process-shared semaphore works among the threads of one process") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 1, 1), 0);
  EQUAL(sem_wait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL(value_of(&semaphore), 1);
  EQUAL(sem_destroy(&semaphore), 0);
}

TEST(semaphore_trywait, "sem_trywait takes a permit if there is one, and fails with EAGAIN otherwise") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 0, 2), 0);
  EQUAL(sem_trywait(&semaphore), 0);
  EQUAL(sem_trywait(&semaphore), 0);
  for (int i = 0; i != 100; ++i) EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
  EQUAL(value_of(&semaphore), 0);  // and not less, however often a thread has tried
  EQUAL(sem_post(&semaphore), 0);
  EQUAL(sem_trywait(&semaphore), 0);
}

TEST(semaphore_wait_counts_down, "each sem_wait takes one permit") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 0, 100), 0);
  for (int i = 99; i >= 0; --i) {
    EQUAL(sem_wait(&semaphore), 0);
    EQUAL(value_of(&semaphore), i);
  }
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
}

TEST(semaphore_post_counts_up, "each sem_post adds one permit, which stays until a thread takes it") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 0, 0), 0);
  for (int i = 1; i <= 1000; ++i) {
    EQUAL(sem_post(&semaphore), 0);
    EQUAL(value_of(&semaphore), i);
  }
  for (int i = 0; i != 1000; ++i) EQUAL(sem_trywait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
}

TEST(semaphore_post_overflow, "sem_post of a semaphore at SEM_VALUE_MAX fails with EOVERFLOW, and changes nothing") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 0, SEM_VALUE_MAX), 0);
  for (int i = 0; i != 10; ++i) EXPECT_ERRNO(sem_post(&semaphore), EOVERFLOW);
  EQUAL(value_of(&semaphore), SEM_VALUE_MAX);
  EQUAL(sem_wait(&semaphore), 0);
  EQUAL(value_of(&semaphore), SEM_VALUE_MAX - 1);
  EQUAL(sem_post(&semaphore), 0);
  EXPECT_ERRNO(sem_post(&semaphore), EOVERFLOW);
}

TEST(semaphore_post_overflow_shared, "the same for process-shared semaphores") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 1, SEM_VALUE_MAX), 0);
  EXPECT_ERRNO(sem_post(&semaphore), EOVERFLOW);
  EQUAL(value_of(&semaphore), SEM_VALUE_MAX);
}

static sem_t nearly_full;
static atomic_int posted, ready;

static void* posts_some(void* unused) {
  ++ready;
  while (ready != 2) sched_yield();
  for (int i = 0; i != 3; ++i) {
    errno = 0;
    if (sem_post(&nearly_full) == 0) ++posted;
    else EQUAL(errno, EOVERFLOW);
  }
  return unused;
}

// More posts than there is room for may succeed, because simultaneous posts may not see each other. With glibc they do.
TEST(semaphore_post_overflow_together,
     "of several posts at once, as many succeed as there is room for, or more; the value stays within SEM_VALUE_MAX") {
  for (int turn = 0; turn != 100; ++turn) {
    ready = posted = 0;
    EQUAL(sem_init(&nearly_full, 0, SEM_VALUE_MAX - 3), 0);
    const pthread_t one = start(posts_some, NULL), other = start(posts_some, NULL);
    join(one);
    join(other);
    CHECK(posted == 3 || posted == 4);
    EQUAL(value_of(&nearly_full), SEM_VALUE_MAX);
    EXPECT_ERRNO(sem_post(&nearly_full), EOVERFLOW);
  }
}

static void* posts(void* semaphore) {
  EQUAL(sem_post(semaphore), 0);
  return NULL;
}

TEST(semaphore_has_no_owner, "a thread may post a permit that another thread has taken") {
  sem_t semaphore;
  EQUAL(sem_init(&semaphore, 0, 1), 0);
  for (int i = 0; i != 10; ++i) {
    EQUAL(sem_wait(&semaphore), 0);
    result_of(posts, &semaphore);
  }
  EQUAL(value_of(&semaphore), 1);
}

TEST(semaphore_destroyed_and_made_again, "a destroyed semaphore can be initialised again, with another value") {
  sem_t semaphore;
  for (unsigned i = 0; i != 100; ++i) {
    EQUAL(sem_init(&semaphore, 0, i), 0);
    EQUAL(value_of(&semaphore), i);
    EQUAL(sem_post(&semaphore), 0);
    EQUAL(sem_destroy(&semaphore), 0);
    EQUAL(sem_init(&semaphore, 1, i), 0);  // and now process-shared
    EQUAL(sem_wait(i == 0 ? (sem_post(&semaphore), &semaphore) : &semaphore), 0);
    EQUAL(sem_destroy(&semaphore), 0);
  }
}

TEST(semaphore_never_destroyed, "the memory of a semaphore that was not destroyed can be used for another semaphore") {
  sem_t semaphore;
  for (unsigned i = 0; i != 100; ++i) {
    EQUAL(sem_init(&semaphore, 0, 100 - i), 0);
    EQUAL(value_of(&semaphore), 100 - i);
    EQUAL(sem_wait(&semaphore), 0);
  }
}

TEST(semaphore_thousands, "each of thousands of semaphores has its own value") {
  enum { count = 5000 };
  static sem_t many[count];
  for (unsigned i = 0; i != count; ++i) EQUAL(sem_init(&many[i], 0, i), 0);
  for (unsigned i = 0; i != count; ++i) EQUAL(sem_post(&many[i]), 0);
  for (unsigned i = 0; i != count; ++i) {
    EQUAL(value_of(&many[i]), i + 1);
    EQUAL(sem_trywait(&many[i]), 0);
    EQUAL(sem_destroy(&many[i]), 0);
  }
}

TEST(semaphore_anywhere_in_memory, "a semaphore may lie at any aligned address, and the adjacent bytes do not change") {
  static _Alignas(sem_t) unsigned char memory[512];
  for (size_t at = _Alignof(sem_t); at + 2 * sizeof(sem_t) < sizeof memory; at += _Alignof(sem_t)) {
    memset(memory, 0x5A, sizeof memory);
    sem_t* const semaphore = (void*)(memory + at);
    const struct timespec past = deadline(CLOCK_REALTIME, -1);
    EQUAL(sem_init(semaphore, 0, 1), 0);
    EQUAL(sem_wait(semaphore), 0);
    EXPECT_ERRNO(sem_timedwait(semaphore, &past), ETIMEDOUT);
    EQUAL(sem_post(semaphore), 0);
    EQUAL(sem_destroy(semaphore), 0);
    for (size_t i = 0; i != sizeof memory; ++i) CHECK((i >= at && i < at + sizeof *semaphore) || memory[i] == 0x5A);
  }
}

TEST(semaphore_never_clears_errno, "the functions of semaphores do not set errno to 0 when they succeed") {
  sem_t semaphore;
  const struct timespec later = deadline(CLOCK_REALTIME, 60000);
  errno = EDOM;
  EQUAL(sem_init(&semaphore, 0, 1), 0);
  EQUAL(sem_wait(&semaphore), 0);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL(sem_trywait(&semaphore), 0);
  EQUAL(sem_post(&semaphore), 0);
  EQUAL(sem_timedwait(&semaphore, &later), 0);
  EQUAL(value_of(&semaphore), 0);
  EQUAL(sem_destroy(&semaphore), 0);
  CHECK(errno != 0);
}
