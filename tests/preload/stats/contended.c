// SPDX-License-Identifier: Apache-2.0
// One thread waits for `ledger` in deposit() while another thread holds it. The argument says how often. No thread
// waits for `calm`.
#include "support.h"

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t calm = PTHREAD_MUTEX_INITIALIZER;
struct {
  long before;
  sem_t permits;
} pool;

__attribute__((noinline)) static void deposit(void) {
  pthread_mutex_lock(&ledger);
  pthread_mutex_unlock(&ledger);
  __asm__ volatile("");  // no tail call
}

__attribute__((noinline)) static void take(void) {
  errno = 0;
  CHECK(sem_wait(&pool.permits) == 0 && errno == 0);
  __asm__ volatile("");
}

static void* waits(void* unused) {
  pthread_mutex_lock(&calm);
  pthread_mutex_unlock(&calm);
  will_wait();
  deposit();
  will_wait();
  take();
  return unused;
}

int main(int count, char** words) {
  CHECK(sem_init(&pool.permits, 0, 0) == 0);
  for (int left = count > 1 ? atoi(words[1]) : 1; left != 0; --left) {
    pthread_mutex_lock(&ledger);
    const pthread_t thread = start(waits, NULL);
    until_it_waits();
    pthread_mutex_unlock(&ledger);
    until_it_waits();
    CHECK(sem_post(&pool.permits) == 0);
    join(thread);
  }
}
