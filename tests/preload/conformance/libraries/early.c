// SPDX-License-Identifier: Apache-2.0
// A library of the program. Its constructor runs before the constructors of the program and of preloaded objects, and
// its fork handlers are registered first.
#include <pthread.h>

pthread_mutex_t early_mutex = PTHREAD_MUTEX_INITIALIZER;
int early_results[3] = {-1, -1, -1}, early_at_fork;

static void take(void) { early_at_fork |= pthread_mutex_lock(&early_mutex); }
static void give(void) { early_at_fork |= pthread_mutex_unlock(&early_mutex); }

__attribute__((constructor)) static void begin(void) {
  early_results[0] = pthread_mutex_lock(&early_mutex);
  early_results[1] = pthread_mutex_trylock(&early_mutex);
  early_results[2] = pthread_mutex_unlock(&early_mutex);
  pthread_atfork(take, give, give);
}
