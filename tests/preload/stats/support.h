// SPDX-License-Identifier: Apache-2.0
// What the programs share: threads, and contention that happens for certain.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what)                                              \
  do {                                                           \
    if (!(what)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
      abort();                                                   \
    }                                                            \
  } while (0)

static pthread_t start(void* (*function)(void*), void* argument) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, function, argument) == 0);
  return thread;
}

static void* join(pthread_t thread) {
  void* result;
  CHECK(pthread_join(thread, &result) == 0);
  return result;
}

// A thread announces that it will wait, and does nothing else before it waits. Whatever it waits for, it eventually
// sleeps.
static _Atomic pid_t about_to_wait;

static void will_wait(void) { about_to_wait = (pid_t)syscall(SYS_gettid); }

static void until_it_waits(void) {
  while (about_to_wait == 0) sched_yield();
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)about_to_wait);
  for (char state = '?'; state != 'S';) {
    usleep(1000);
    const int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    CHECK(length > 0);
    text[length] = '\0';
    state = strrchr(text, ')')[2];
  }
  about_to_wait = 0;
}

static struct timespec after(clockid_t clock, long milliseconds) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_sec += milliseconds / 1000;
  at.tv_nsec += milliseconds % 1000 * 1000000;
  if (at.tv_nsec >= 1000000000) {
    at.tv_nsec -= 1000000000;
    ++at.tv_sec;
  }
  return at;
}
