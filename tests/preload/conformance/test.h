// SPDX-License-Identifier: Apache-2.0
// A test is TEST(name, "the requirement") { ... }. Each test has a process of its own (main.c), so it need not clean
// up, and its hangs and crashes affect no other test.
//
// A failed check prints its place and its condition, and ends the process, in any thread. In a child of a fork it ends
// the child: see `in_child`.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct test {
  const char *name, *requirement;
  void (*run)(void);
  struct test* next;
};
void add_test(struct test* test);

// The record has external linkage, so that two tests cannot have the same name.
#define TEST(name, requirement)                                                         \
  static void run_##name(void);                                                         \
  struct test test_##name = {#name, requirement, run_##name, NULL};                     \
  __attribute__((constructor)) static void add_##name(void) { add_test(&test_##name); } \
  static void run_##name(void)

__attribute__((noreturn, format(printf, 3, 4))) void fail(const char* file, int line, const char* format, ...);
__attribute__((noreturn)) void skip(const char* why);

#define CHECK(condition) ((condition) ? (void)0 : fail(__FILE__, __LINE__, "%s", #condition))
#define EQUAL(actual, expected) check_equal(__FILE__, __LINE__, #actual, actual, #expected, expected)
#define EXPECT_ERRNO(call, error) check_errno(__FILE__, __LINE__, #call, (errno = 0, call), #error, error)
#define SKIP(why) skip(why)

void check_equal(const char* file, int line, const char* what, long actual, const char* how, long expected);
void check_errno(const char* file, int line, const char* what, long result, const char* how, int error);

// --- threads ---

pthread_t start(void* (*function)(void*), void* argument);
void* join(pthread_t thread);
long result_of(void* (*function)(void*), void* argument);  // calls the function in a new thread, and joins the thread
bool has_ended(pthread_t thread);                          // joins the thread if it has ended

// A thread calls `will_block` right before it waits. `until_blocked` returns when this number of further threads have
// called it and sleep. Under a policy that never sleeps, it is enough that they have spun for a while. A thread that
// has ended counts as well.
void will_block(void);
void until_blocked(int threads);

// Whether waiters spin for ever, so that the next owner may have to wait for the scheduler. `turns` returns how often
// to repeat a hand-over: `many` times, or fewer if waiters spin for ever.
bool never_sleeps(void);
long turns(long many);

// --- time ---

struct timespec deadline(clockid_t clock,
                         long milliseconds);  // from now; a negative duration gives a deadline in the past
bool has_passed(clockid_t clock, struct timespec at);
void nap(long milliseconds);

// --- processes ---

pid_t in_child(void (*function)(void));  // forks; the child calls the function, and succeeds if it returns
void ends_well(pid_t child);             // waits for the child, and fails unless it succeeded

// --- mutexes ---

pthread_mutex_t mutex_of_type(int type);  // PTHREAD_MUTEX_NORMAL ...; unused, so that it may be copied

#ifdef __cplusplus
}
#endif
