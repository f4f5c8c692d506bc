// SPDX-License-Identifier: Apache-2.0
// A library whose constructor takes a mutex before any other code runs, and whose malloc takes a mutex at each call.
#include <pthread.h>
#include <stddef.h>
#include <string.h>

pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char memory[1 << 22];
static size_t used;

void* malloc(size_t size) {
  pthread_mutex_lock(&heap);
  void* result = memory + used + 16;
  memcpy(memory + used, &size, sizeof size);
  used += (size + 31) / 16 * 16;
  pthread_mutex_unlock(&heap);
  return used < sizeof memory ? result : NULL;
}
void* calloc(size_t count, size_t size) { return malloc(count * size); }  // never used before: all zero
void free(void* unused) { (void)unused; }
void* realloc(void* before, size_t size) {
  void* const result = malloc(size);
  if (before != NULL) {
    size_t length;
    memcpy(&length, (char*)before - 16, sizeof length);
    memcpy(result, before, length < size ? length : size);
  }
  return result;
}

__attribute__((constructor(101))) static void begin(void) {
  pthread_mutex_lock(&early);
  pthread_mutex_unlock(&early);
}
