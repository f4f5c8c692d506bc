// A library of the program's. Its constructor locks before those of the program and of preloaded objects have run.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int early_results[3] = {-1, -1, -1};

__attribute__((constructor)) static void begin(void) {
  early_results[0] = pthread_mutex_lock(&mutex);
  early_results[1] = pthread_mutex_trylock(&mutex);
  early_results[2] = pthread_mutex_unlock(&mutex);
}
