// SPDX-License-Identifier: Apache-2.0
// Ten threads take and return the one permit of a semaphore in a tight loop, 100,000 times each.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

enum { threads = 10, turns = 100000 };

static pthread_barrier_t beginning;
static sem_t permit;

static void* take_turns(void* unused) {
  pthread_barrier_wait(&beginning);
  for (int turn = 0; turn != turns; ++turn) {
    sem_wait(&permit);
    sem_post(&permit);
  }
  return unused;
}

int main(void) {
  pthread_t thread[threads];
  pthread_barrier_init(&beginning, NULL, threads);
  sem_init(&permit, 0, 1);
  for (int i = 0; i != threads; ++i) pthread_create(&thread[i], NULL, take_turns, NULL);
  for (int i = 0; i != threads; ++i) pthread_join(thread[i], NULL);
  return 0;
}
