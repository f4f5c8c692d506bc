// SPDX-License-Identifier: Apache-2.0
// pthread_atfork: handlers that lock the mutexes of other threads, so that the child sees consistent data.
#include "kinds.h"

#include <stdatomic.h>

static void take(void) { EQUAL(pthread_mutex_lock(mutex), 0); }
static void give(void) { EQUAL(pthread_mutex_unlock(mutex), 0); }

static void use(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
}

FOR_PLAIN_KINDS(atfork_handlers,
                "a mutex that is locked before the fork, and unlocked after it in parent and child, is free in both") {
  EQUAL(pthread_atfork(take, give, give), 0);
  for (int i = 0; i != 5; ++i) {
    ends_well(in_child(use));
    use();
  }
}

static long words[8];
static atomic_int stop;

static void* rewrites(void* unused) {
  while (!stop) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    for (int i = 0; i != 8; ++i) {
      ++words[i];
      if (i == 4) sched_yield();
    }
    EQUAL(pthread_mutex_unlock(mutex), 0);
    nap(1);
  }
  return unused;
}

static void find_it_consistent(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 8; ++i) EQUAL(words[i], words[0]);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

FOR_PLAIN_KINDS(atfork_among_busy_threads, "fork handlers wait for owners, and the child sees consistent data") {
  pthread_t threads[3];
  EQUAL(pthread_atfork(take, give, give), 0);
  for (int i = 0; i != 3; ++i) threads[i] = start(rewrites, NULL);
  for (int i = 0; i != 8; ++i) ends_well(in_child(find_it_consistent));
  stop = 1;
  for (int i = 0; i != 3; ++i) join(threads[i]);
}

static sem_t may_unlock;

static void* holds_until_request(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  will_block();
  EQUAL(sem_wait(&may_unlock), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  return unused;
}

static void* forks_and_waits(void* unused) {
  will_block();
  ends_well(in_child(use));
  return unused;
}

FOR_PLAIN_KINDS(atfork_waits, "fork waits while a handler waits for a mutex that another thread holds") {
  EQUAL(sem_init(&may_unlock, 0, 0), 0);
  EQUAL(pthread_atfork(take, give, give), 0);
  const pthread_t owner = start(holds_until_request, NULL);
  until_blocked(1);
  const pthread_t forker = start(forks_and_waits, NULL);
  until_blocked(1);
  CHECK(!has_ended(forker));
  EQUAL(sem_post(&may_unlock), 0);
  join(owner);
  join(forker);
}

static void make_anew(void) { EQUAL(pthread_mutex_init(mutex, NULL), 0); }

FOR_EACH_KIND(atfork_initialises, "the handler in the child may initialise the mutex instead of unlocking it") {
  EQUAL(pthread_atfork(take, give, make_anew), 0);
  for (int i = 0; i != 3; ++i) ends_well(in_child(use));
  use();
}

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static void take_inner(void) { EQUAL(pthread_mutex_lock(&inner), 0); }
static void give_inner(void) { EQUAL(pthread_mutex_unlock(&inner), 0); }

static void use_both(void) {
  EQUAL(pthread_mutex_trylock(&inner), 0);
  use();
}

static void* uses_both(void* unused) {
  while (!stop) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(pthread_mutex_lock(&inner), 0);
    EQUAL(pthread_mutex_unlock(&inner), 0);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    nap(1);
  }
  return unused;
}

FOR_PLAIN_KINDS(
    atfork_order,
    "handlers before the fork run in reverse order of their registration, so that an outer mutex is locked first") {
  EQUAL(pthread_atfork(take_inner, give_inner, give_inner), 0);
  EQUAL(pthread_atfork(take, give, give), 0);
  const pthread_t thread = start(uses_both, NULL);
  for (int i = 0; i != 5; ++i) ends_well(in_child(use_both));
  stop = 1;
  join(thread);
}

static void fork_and_use(void) {
  ends_well(in_child(use));
  use();
}

FOR_PLAIN_KINDS(atfork_in_child, "handlers run again when the child forks") {
  EQUAL(pthread_atfork(take, give, give), 0);
  ends_well(in_child(fork_and_use));
  use();
}
