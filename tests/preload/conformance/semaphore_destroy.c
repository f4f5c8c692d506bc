// SPDX-License-Identifier: Apache-2.0
// Semaphores: a thread that has just returned from a wait may destroy the semaphore, and use its memory again, if no
// other thread waits. The post that ended the wait may not have returned yet (glibc's bug 12674).
#include "semaphore_ways.h"

#include <stdatomic.h>

enum { pages = 128 };
static size_t page;
static char* memory;
static _Atomic(sem_t*) handed;
static atomic_bool done;

static void* posts(void* unused) {
  while (!done) {
    sem_t* const semaphore = atomic_exchange(&handed, NULL);
    if (semaphore != NULL) EQUAL(sem_post(semaphore), 0);
  }
  return unused;
}

static void map(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
}

static int wait_trying(sem_t* semaphore) {
  for (; sem_trywait(semaphore) != 0; sched_yield()) EQUAL(errno, EAGAIN);
  return 0;
}

// Each semaphore has a page of its own, which becomes inaccessible when the wait is over.
static void expect_untouched(int (*wait)(sem_t*), int shared) {
  map();
  const pthread_t thread = start(posts, NULL);
  for (int i = 0; i != pages; ++i) {
    sem_t* const semaphore = (void*)(memory + (size_t)i * page);
    EQUAL(sem_init(semaphore, shared, 0), 0);
    handed = semaphore;
    EQUAL(wait(semaphore), 0);
    EQUAL(sem_destroy(semaphore), 0);
    EQUAL(mprotect(semaphore, page, PROT_NONE), 0);
  }
  done = true;
  join(thread);
}

TEST(semaphore_unmapped_after_wait, "a thread that returns from sem_wait may destroy the semaphore, and unmap it") {
  expect_untouched(sem_wait, 0);
}
TEST(semaphore_unmapped_after_timedwait,
     "a thread that returns from sem_timedwait may destroy the semaphore, and unmap it") {
  expect_untouched(wait_timed, 0);
}
TEST(semaphore_unmapped_after_trywait,
     "a thread that succeeds with sem_trywait may destroy the semaphore, and unmap it") {
  expect_untouched(wait_trying, 0);
}
TEST(semaphore_unmapped_after_shared_wait, "the same for process-shared semaphores") { expect_untouched(sem_wait, 1); }

static void* sleeps(void* semaphore) {
  will_block();
  EQUAL(sem_wait(semaphore), 0);
  EQUAL(sem_destroy(semaphore), 0);
  EQUAL(mprotect(semaphore, page, PROT_NONE), 0);
  return NULL;
}

TEST(semaphore_unmapped_by_a_sleeper, "a thread that slept until the post may destroy the semaphore, and unmap it") {
  map();
  for (int i = 0; i != 40; ++i) {
    sem_t* const semaphore = (void*)(memory + (size_t)i * page);
    EQUAL(sem_init(semaphore, 0, 0), 0);
    const pthread_t thread = start(sleeps, semaphore);
    until_blocked(1);
    EQUAL(sem_post(semaphore), 0);
    join(thread);
  }
}

// The last of several waiters unmaps it.
static atomic_int left;

static void* leaves(void* semaphore) {
  EQUAL(sem_wait(semaphore), 0);
  if (--left == 0) EQUAL(mprotect(semaphore, page, PROT_NONE), 0);
  return NULL;
}

TEST(semaphore_unmapped_by_the_last, "the last of several waiters may unmap the semaphore") {
  map();
  for (int i = 0; i != 40; ++i) {
    pthread_t threads[3];
    sem_t* const semaphore = (void*)(memory + (size_t)i * page);
    EQUAL(sem_init(semaphore, 0, 0), 0);
    left = 3;
    for (int j = 0; j != 3; ++j) threads[j] = start(leaves, semaphore);
    for (int j = 0; j != 3; ++j) EQUAL(sem_post(semaphore), 0);
    for (int j = 0; j != 3; ++j) join(threads[j]);
  }
}

// Waiters that have given up leave nothing behind that a later operation would touch.
static void* gives_up(void* semaphore) {
  const struct timespec soon = deadline(CLOCK_MONOTONIC, 1);
  EXPECT_ERRNO(sem_clockwait(semaphore, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
  return NULL;
}

TEST(semaphore_unmapped_after_timeouts, "a waiter may unmap the semaphore after earlier waiters have given up") {
  map();
  for (int i = 0; i != 20; ++i) {
    pthread_t threads[3];
    sem_t* const semaphore = (void*)(memory + (size_t)i * page);
    EQUAL(sem_init(semaphore, 0, 0), 0);
    for (int j = 0; j != 3; ++j) threads[j] = start(gives_up, semaphore);
    for (int j = 0; j != 3; ++j) join(threads[j]);
    left = 1;
    const pthread_t last = start(leaves, semaphore);
    EQUAL(sem_post(semaphore), 0);
    join(last);
  }
}

// --- on a stack, where the next semaphore reuses the same place ---

static void* serves(void* unused) {
  for (;;) {
    sem_t* const semaphore = atomic_exchange(&handed, NULL);
    if (semaphore != NULL) EQUAL(sem_post(semaphore), 0);
    else if (done) return unused;
    else sched_yield();
  }
}

static __attribute__((noinline)) void ask(int value) {
  sem_t answered;
  EQUAL(sem_init(&answered, 0, 0), 0);
  handed = &answered;
  EQUAL(sem_wait(&answered), 0);
  EQUAL(sem_destroy(&answered), 0);
  memset(&answered, value, sizeof answered);
  __asm__ volatile("" ::"r"(&answered) : "memory");
}

TEST(semaphore_on_the_stack,
     "a semaphore on a stack may cease to exist when its wait is over, and another may take its place") {
  const pthread_t thread = start(serves, NULL);
  for (long i = 0; i != turns(1000); ++i) ask((int)i);
  done = true;
  join(thread);
}

static __attribute__((noinline)) void ask_and_look(void) {
  union {
    sem_t semaphore;
    unsigned char bytes[sizeof(sem_t)];
  } answered;
  EQUAL(sem_init(&answered.semaphore, 0, 0), 0);
  handed = &answered.semaphore;
  EQUAL(sem_wait(&answered.semaphore), 0);
  memset(&answered, 0x5A, sizeof answered);
  for (int i = 0; i != 20; ++i) {
    __asm__ volatile("" ::"r"(&answered) : "memory");
    for (size_t j = 0; j != sizeof answered; ++j) EQUAL(answered.bytes[j], 0x5A);
  }
}

TEST(semaphore_memory_is_left_alone, "nothing writes to the memory of a semaphore after its wait is over") {
  const pthread_t thread = start(serves, NULL);
  for (long i = 0; i != turns(500); ++i) ask_and_look();
  done = true;
  join(thread);
}

TEST(semaphore_freed_after_wait, "a semaphore may be freed when its wait is over") {
  const pthread_t thread = start(serves, NULL);
  for (long i = 0; i != turns(500); ++i) {
    sem_t* const semaphore = malloc(sizeof *semaphore);
    CHECK(semaphore != NULL);
    EQUAL(sem_init(semaphore, 0, 0), 0);
    handed = semaphore;
    EQUAL(sem_wait(semaphore), 0);
    EQUAL(sem_destroy(semaphore), 0);
    free(semaphore);
  }
  done = true;
  join(thread);
}
