// What a mutex is: one owner at a time, whoever is next sees what was done.
#include "test.h"

TEST(mutex_static_initialiser, "PTHREAD_MUTEX_INITIALIZER makes an unlocked mutex, as pthread_mutex_init with default attributes does") {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  EQUAL(pthread_mutex_lock(&mutex), 0);
  EQUAL(pthread_mutex_unlock(&mutex), 0);
  EQUAL(pthread_mutex_destroy(&mutex), 0);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void* passes_gate(void* passed) {
  will_block();
  EQUAL(pthread_mutex_lock(&gate), 0);
  ++*(int*)passed;
  EQUAL(pthread_mutex_unlock(&gate), 0);
  return NULL;
}

TEST(mutex_lock_blocks, "pthread_mutex_lock blocks while another thread has the mutex, and returns with it when it is unlocked") {
  int passed = 0;
  EQUAL(pthread_mutex_lock(&gate), 0);
  const pthread_t thread = start(passes_gate, &passed);
  until_blocked(1);
  EQUAL(passed, 0);
  CHECK(!has_ended(thread));
  EQUAL(pthread_mutex_unlock(&gate), 0);
  join(thread);
  EQUAL(passed, 1);
}
