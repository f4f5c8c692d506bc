// SPDX-License-Identifier: Apache-2.0
// A library that the program opens. It uses its own mutexes in its constructor, functions and destructor.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int count;

static void* increment(void* unused) {
  pthread_mutex_lock(&mutex);
  ++count;
  pthread_mutex_unlock(&mutex);
  return unused;
}

// While the constructor runs, the loader's lock is held: a thread that called the loader now would hang.
__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  increment(NULL);
  pthread_create(&thread, NULL, increment, NULL);
  pthread_join(thread, NULL);
}

int opened_count(void) {
  int failed = pthread_mutex_lock(&recursive) | pthread_mutex_lock(&recursive) | pthread_mutex_lock(&mutex);
  const int seen = count;
  failed |= pthread_mutex_unlock(&mutex) | pthread_mutex_unlock(&recursive) | pthread_mutex_unlock(&recursive);
  return failed ? -1 : seen;
}

int opened_try(pthread_mutex_t* other) { return pthread_mutex_trylock(other); }

int* opened_result;

__attribute__((destructor)) static void end(void) {
  increment(NULL);
  if (opened_result) *opened_result = count;
}
