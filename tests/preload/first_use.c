// SPDX-License-Identifier: Apache-2.0
// Prints how many nanoseconds a lock and unlock of a mutex take, at its first use and later, in a program with MAPPINGS
// shared mappings.
//
//   first_use [MAPPINGS]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { mutexes = 4000, repeats = 30 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static double later_turns(pthread_mutex_t* mutex, int times) {
  const double begin = now();
  for (int i = 0; i != times; ++i) {
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
  }
  return (now() - begin) / times;
}

static double first_turns(pthread_mutex_t* mutex) {
  const double begin = now();
  for (int i = 0; i != mutexes; ++i) {
    pthread_mutex_init(&mutex[i], NULL);
    pthread_mutex_lock(&mutex[i]);
    pthread_mutex_unlock(&mutex[i]);
  }
  return (now() - begin) / mutexes;
}

static double least(double one, double other) { return one < other ? one : other; }

int main(int count, char** words) {
  pthread_mutex_t* const memory = malloc(mutexes * sizeof *memory);
  for (int i = count > 1 ? atoi(words[1]) : 0; i > 0; --i) {
    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // separates the shared mappings into ranges
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  memset(memory, 0, mutexes * sizeof *memory);
  double first = 1e9, later = 1e9;
  for (int i = 0; i != repeats; ++i) {
    first = least(first, first_turns(memory));
    later = least(later, later_turns(memory, 100000));
  }
  pthread_mutex_t* const shared =
      mmap(NULL, mutexes * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memset(shared, 0, mutexes * sizeof *shared);
  printf("first %.1f, later %.1f, first in shared memory %.1f\n", first, later, first_turns(shared));
  return 0;
}
