// SPDX-License-Identifier: Apache-2.0
// Threads that wait on one condition. They count themselves under the mutex. So a thread that owns the mutex, and reads
// the count, knows that this number of waiters is in line.
#pragma once

#include "test.h"

struct waiters {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int waiting, returned;  // currently; in total
  int go;                 // the number of threads that may go
};
#define WAITERS {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0}

// Waits once; the wake-up may be spurious.
__attribute__((unused)) static void* waits_once(void* argument) {
  struct waiters* const all = argument;
  EQUAL(pthread_mutex_lock(&all->mutex), 0);
  ++all->waiting;
  EQUAL(pthread_cond_wait(&all->condition, &all->mutex), 0);
  --all->waiting;
  ++all->returned;
  EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  return NULL;
}

// Waits until it may go.
__attribute__((unused)) static void* waits_to_go(void* argument) {
  struct waiters* const all = argument;
  EQUAL(pthread_mutex_lock(&all->mutex), 0);
  ++all->waiting;
  while (all->go == 0) EQUAL(pthread_cond_wait(&all->condition, &all->mutex), 0);
  --all->go;
  --all->waiting;
  ++all->returned;
  EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  return NULL;
}

// Locks the mutex when this many threads wait.
__attribute__((unused)) static void lock_when_waiting(struct waiters* all, int threads) {
  for (;; sched_yield()) {
    EQUAL(pthread_mutex_lock(&all->mutex), 0);
    if (all->waiting == threads) return;
    EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  }
}

// The same for waiters that have returned.
__attribute__((unused)) static void lock_when_returned(struct waiters* all, int threads) {
  for (;; sched_yield()) {
    EQUAL(pthread_mutex_lock(&all->mutex), 0);
    if (all->returned >= threads) return;
    EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  }
}
