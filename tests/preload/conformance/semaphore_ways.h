// SPDX-License-Identifier: Apache-2.0
// What the tests of semaphores share: reading the value, and the ways to wait.
#pragma once

#include "test.h"

__attribute__((unused)) static int value_of(sem_t* semaphore) {
  int value = -1;
  EQUAL(sem_getvalue(semaphore, &value), 0);
  return value;
}

// Long, but not for ever. A test is killed as hung before that.
__attribute__((unused)) static int wait_timed(sem_t* semaphore) {
  const struct timespec at = deadline(CLOCK_REALTIME, 60000);
  return sem_timedwait(semaphore, &at);
}

__attribute__((unused)) static int wait_clocked(sem_t* semaphore) {
  const struct timespec at = deadline(CLOCK_MONOTONIC, 60000);
  return sem_clockwait(semaphore, CLOCK_MONOTONIC, &at);
}
