// SPDX-License-Identifier: Apache-2.0
// Thread i takes `counted` i * 100 times, in every possible way. All threads also wait on a condition and take a
// semaphore.
#include "support.h"

enum { threads = 5 };
pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER, meeting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
sem_t permits;
static int here;

static void* takes(void* number) {
  const struct timespec real = after(CLOCK_REALTIME, 60000), monotonic = after(CLOCK_MONOTONIC, 60000);
  for (long turn = 0; turn != (long)number * 25; ++turn) {
    pthread_mutex_lock(&counted);
    pthread_mutex_unlock(&counted);
    while (pthread_mutex_trylock(&counted) != 0) sched_yield();
    pthread_mutex_unlock(&counted);
    CHECK(pthread_mutex_timedlock(&counted, &real) == 0);
    pthread_mutex_unlock(&counted);
    CHECK(pthread_mutex_clocklock(&counted, CLOCK_MONOTONIC, &monotonic) == 0);
    pthread_mutex_unlock(&counted);
    CHECK(sem_wait(&permits) == 0 && sem_post(&permits) == 0);
    while (sem_trywait(&permits) != 0) sched_yield();
    CHECK(sem_post(&permits) == 0);
    CHECK(sem_timedwait(&permits, &real) == 0 && sem_post(&permits) == 0);
    CHECK(sem_clockwait(&permits, CLOCK_MONOTONIC, &monotonic) == 0 && sem_post(&permits) == 0);
  }
  pthread_mutex_lock(&meeting);  // once; a wait takes the mutex again, so all threads but the last take it twice
  ++here;
  while (here != threads) pthread_cond_wait(&all_here, &meeting);
  pthread_cond_broadcast(&all_here);
  pthread_mutex_unlock(&meeting);
  return NULL;
}

int main(void) {
  pthread_t all[threads];
  CHECK(sem_init(&permits, 0, 2) == 0);
  for (long i = 0; i != threads; ++i) all[i] = start(takes, (void*)(i + 1));
  for (int i = 0; i != threads; ++i) join(all[i]);
}
