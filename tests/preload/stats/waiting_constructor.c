// SPDX-License-Identifier: Apache-2.0
// A library whose constructor waits for a thread that locks mutexes of all kinds. While a program opens the library, it
// holds the loader's lock.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static void* locks(void* unused) {
  pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, inherits;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&inherits, &attributes);
  pthread_mutex_lock(&plain);
  pthread_mutex_unlock(&plain);
  pthread_mutex_lock(&inherits);
  pthread_mutex_unlock(&inherits);
  pthread_mutex_destroy(&inherits);
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, locks, NULL);
  pthread_join(thread, NULL);
}
