// SPDX-License-Identifier: Apache-2.0
// Takes `counted` 3 times, and forks. The child takes `counted` 5 times, and ends with _exit. The child of a vfork, in
// its parent's memory, only ends with _exit. Then the parent takes `counted` 4 more times.
#include "support.h"

pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;

static void* take(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    pthread_mutex_lock(&counted);
    pthread_mutex_unlock(&counted);
  }
  return NULL;
}

int main(void) {
  take((void*)2);
  join(start(take, (void*)1));
  pid_t child = fork();
  if (child == 0) {
    take((void*)4);
    join(start(take, (void*)1));
    _exit(0);
  }
  waitpid(child, NULL, 0);
  child = vfork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  take((void*)4);
}
