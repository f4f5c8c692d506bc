// SPDX-License-Identifier: Apache-2.0
// A test for each kind of mutex. Its body uses `mutex`, which points to an unlocked, unused mutex of that kind.
#pragma once

#include "test.h"

static pthread_mutex_t first_mutex;
static pthread_mutex_t* mutex = &first_mutex;

static inline void make(int type, int protocol, int robust, int shared) {
  pthread_mutexattr_t attributes;
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_settype(&attributes, type), 0);
  EQUAL(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
  EQUAL(pthread_mutexattr_setrobust(&attributes, robust), 0);
  EQUAL(pthread_mutexattr_setpshared(&attributes, shared), 0);
  EQUAL(pthread_mutex_init(mutex, &attributes), 0);
  EQUAL(pthread_mutexattr_destroy(&attributes), 0);
}

static inline void make_type(int type) {
  make(type, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE);
}

// PLAIN: the kinds that neither count nor refuse a relock. EACH: all replaced kinds. EVERY: these, and the kinds that
// are left to glibc.
#define FOR_PLAIN_KINDS(name, requirement)                                                                   \
  static void name(void);                                                                                    \
  TEST(name##_default, "default mutex: " requirement) { EQUAL(pthread_mutex_init(mutex, NULL), 0), name(); } \
  TEST(name##_normal, "normal mutex: " requirement) { make_type(PTHREAD_MUTEX_NORMAL), name(); }             \
  TEST(name##_adaptive, "adaptive mutex: " requirement) { make_type(PTHREAD_MUTEX_ADAPTIVE_NP), name(); }    \
  static void name(void)

#define FOR_EACH_KIND(name, requirement)                                                                     \
  static void name(void);                                                                                    \
  TEST(name##_recursive, "recursive mutex: " requirement) { make_type(PTHREAD_MUTEX_RECURSIVE), name(); }    \
  TEST(name##_errorcheck, "errorcheck mutex: " requirement) { make_type(PTHREAD_MUTEX_ERRORCHECK), name(); } \
  FOR_PLAIN_KINDS(name, requirement)

#define FOR_EVERY_MUTEX(name, requirement)                                                                    \
  static void name(void);                                                                                     \
  TEST(name##_robust, "robust mutex: " requirement) {                                                         \
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE), name();     \
  }                                                                                                           \
  TEST(name##_inherit, "PTHREAD_PRIO_INHERIT: " requirement) {                                                \
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE), name(); \
  }                                                                                                           \
  TEST(name##_shared, "process-shared mutex: " requirement) {                                                 \
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED), name();     \
  }                                                                                                           \
  FOR_EACH_KIND(name, requirement)

// --- what threads call; each function returns the result of its call ---

static inline void* tries(void* unused) {
  (void)unused;
  const long result = pthread_mutex_trylock(mutex);
  if (result == 0) EQUAL(pthread_mutex_unlock(mutex), 0);
  return (void*)result;
}

static inline void* passes(void* count) {
  will_block();
  const long result = pthread_mutex_lock(mutex);
  if (count) ++*(int*)count;
  EQUAL(pthread_mutex_unlock(mutex), 0);
  return (void*)result;
}

static inline void* locks_and_ends(void* unused) {
  (void)unused;
  return (void*)(long)pthread_mutex_lock(mutex);
}

static inline void* unlocks(void* unused) {
  (void)unused;
  return (void*)(long)pthread_mutex_unlock(mutex);
}

static inline void* locks_until(void* at) {  // of CLOCK_REALTIME
  const long result = pthread_mutex_timedlock(mutex, (const struct timespec*)at);
  if (result == 0) EQUAL(pthread_mutex_unlock(mutex), 0);
  return (void*)result;
}

static inline void* waits_until(void* at) {
  will_block();
  return locks_until(at);
}
