// SPDX-License-Identifier: Apache-2.0
// Takes `counted` once, and ends in the way that the argument names.
#include "support.h"

pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;

static void* leaves(void* unused) {
  exit(3);
  return unused;
}

static void* leaves_cancelled(void* unused) {
  pthread_cancel(pthread_self());
  _exit(3);
  return unused;
}

int main(int count, char** words) {
  CHECK(count == 2);
  pthread_mutex_lock(&counted);
  pthread_mutex_unlock(&counted);
  const char* how = words[1];
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(3);
  if (strcmp(how, "_Exit") == 0) _Exit(3);
  if (strcmp(how, "quick_exit") == 0) quick_exit(3);
  if (strcmp(how, "thread") == 0) join(start(leaves, NULL));
  if (strcmp(how, "cancelled") == 0) join(start(leaves_cancelled, NULL));
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  return 3;
}
