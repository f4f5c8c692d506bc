// SPDX-License-Identifier: Apache-2.0
// Ten thousand threads, fifty at a time, take `counted` once each. With an argument, one thread takes 100000 mutexes.
#include "support.h"

pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutexes[100000];

static void* take(void* mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return NULL;
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "mutexes") == 0) {
    for (int i = 0; i != 100000; ++i) take(&mutexes[i]);
    return 0;
  }
  pthread_t threads[50];
  for (int round = 0; round != 200; ++round) {
    for (int i = 0; i != 50; ++i) threads[i] = start(take, &counted);
    for (int i = 0; i != 50; ++i) join(threads[i]);
  }
}
