// SPDX-License-Identifier: Apache-2.0
// Attributes of mutexes: their values, and mutexes that are initialised with them.
#include "kinds.h"

static pthread_mutexattr_t attributes;

TEST(attributes_defaults, "new attributes have the default type, are private and stalled, and have no protocol") {
  int value = -1;
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_gettype(&attributes, &value), 0);
  EQUAL(value, PTHREAD_MUTEX_DEFAULT);
  EQUAL(pthread_mutexattr_getpshared(&attributes, &value), 0);
  EQUAL(value, PTHREAD_PROCESS_PRIVATE);
  EQUAL(pthread_mutexattr_getprotocol(&attributes, &value), 0);
  EQUAL(value, PTHREAD_PRIO_NONE);
  EQUAL(pthread_mutexattr_getrobust(&attributes, &value), 0);
  EQUAL(value, PTHREAD_MUTEX_STALLED);
}

TEST(attributes_type, "a type that was set is read back; an unknown type returns EINVAL and changes nothing") {
  const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                       PTHREAD_MUTEX_ADAPTIVE_NP};
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  for (int i = 0; i != 4; ++i) {
    int value = -1;
    EQUAL(pthread_mutexattr_settype(&attributes, types[i]), 0);
    EQUAL(pthread_mutexattr_settype(&attributes, 77), EINVAL);
    EQUAL(pthread_mutexattr_settype(&attributes, -1), EINVAL);
    EQUAL(pthread_mutexattr_gettype(&attributes, &value), 0);
    EQUAL(value, types[i]);
  }
}

TEST(attributes_invalid, "unknown values return EINVAL") {
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_setpshared(&attributes, 77), EINVAL);
  EQUAL(pthread_mutexattr_setprotocol(&attributes, 77), EINVAL);
  EQUAL(pthread_mutexattr_setrobust(&attributes, 77), EINVAL);
  EQUAL(pthread_mutexattr_setprioceiling(&attributes, 1000), EINVAL);
}

TEST(attributes_set,
     "an attributes object returns the values that were set: shared, robust, the protocol, the ceiling") {
  int value = -1;
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  EQUAL(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
  EQUAL(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
  EQUAL(pthread_mutexattr_setprioceiling(&attributes, 7), 0);
  EQUAL(pthread_mutexattr_getpshared(&attributes, &value), 0);
  EQUAL(value, PTHREAD_PROCESS_SHARED);
  EQUAL(pthread_mutexattr_getrobust(&attributes, &value), 0);
  EQUAL(value, PTHREAD_MUTEX_ROBUST);
  EQUAL(pthread_mutexattr_getprotocol(&attributes, &value), 0);
  EQUAL(value, PTHREAD_PRIO_INHERIT);
  EQUAL(pthread_mutexattr_getprioceiling(&attributes, &value), 0);
  EQUAL(value, 7);
}

TEST(attributes_later_changes,
     "changing or destroying an attributes object does not affect a mutex that was initialised with it") {
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE), 0);
  EQUAL(pthread_mutex_init(mutex, &attributes), 0);
  EQUAL(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutexattr_destroy(&attributes), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
}

TEST(attributes_many_mutexes, "one attributes object can initialise any number of mutexes") {
  static pthread_mutex_t many[50];
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
  for (int i = 0; i != 50; ++i) EQUAL(pthread_mutex_init(&many[i], &attributes), 0);
  for (int i = 0; i != 50; ++i) EQUAL(pthread_mutex_lock(&many[i]), 0);
  for (int i = 0; i != 50; ++i) EQUAL(pthread_mutex_lock(&many[i]), EDEADLK);
}

FOR_EACH_KIND(attributes_no_ceiling, "getting or setting the ceiling of a mutex without a ceiling returns EINVAL") {
  int ceiling;
  EQUAL(pthread_mutex_getprioceiling(mutex, &ceiling), EINVAL);
  EQUAL(pthread_mutex_setprioceiling(mutex, 1, &ceiling), EINVAL);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_getprioceiling(mutex, &ceiling), EINVAL);
}

FOR_EACH_KIND(attributes_not_robust,
              "pthread_mutex_consistent returns EINVAL for a mutex that is not robust, and changes nothing") {
  EQUAL(pthread_mutex_consistent(mutex), EINVAL);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_consistent(mutex), EINVAL);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}
