// SPDX-License-Identifier: Apache-2.0
// Conditions: which waiters signals and broadcasts wake.
#include "condition_waiters.h"

static void start_all(pthread_t* threads, int count, void* (*function)(void*), struct waiters* all) {
  for (int i = 0; i != count; ++i) threads[i] = start(function, all);
}

static void join_all(const pthread_t* threads, int count) {
  for (int i = 0; i != count; ++i) join(threads[i]);
}

TEST(condition_signal_is_not_remembered, "a signal without waiters has no effect on later waiters") {
  struct waiters all = WAITERS;
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  for (int turn = 0; turn != 100; ++turn) EQUAL(pthread_cond_signal(&all.condition), 0);
  const struct timespec soon = deadline(CLOCK_REALTIME, 10);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &soon), ETIMEDOUT);
}

TEST(condition_broadcast_is_not_remembered, "a broadcast without waiters has no effect on later waiters") {
  struct waiters all = WAITERS;
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  for (int turn = 0; turn != 100; ++turn) EQUAL(pthread_cond_broadcast(&all.condition), 0);
  const struct timespec soon = deadline(CLOCK_REALTIME, 10);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &soon), ETIMEDOUT);
}

TEST(condition_more_signals_than_waiters, "signals beyond the number of waiters are not kept for later") {
  struct waiters all = WAITERS;
  pthread_t threads[3];
  start_all(threads, 3, waits_once, &all);
  lock_when_waiting(&all, 3);
  for (int i = 0; i != 50; ++i) EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join_all(threads, 3);
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  const struct timespec soon = deadline(CLOCK_REALTIME, 10);
  EQUAL(pthread_cond_timedwait(&all.condition, &all.mutex, &soon), ETIMEDOUT);
}

TEST(condition_signal_wakes_one, "a signal wakes at least one waiter") {
  struct waiters all = WAITERS;
  pthread_t threads[4];
  start_all(threads, 4, waits_once, &all);
  lock_when_waiting(&all, 4);
  EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  lock_when_returned(&all, 1);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join_all(threads, 4);
}

TEST(condition_signals_one_by_one, "each signal wakes at least one more waiter, until no thread waits") {
  struct waiters all = WAITERS;
  pthread_t threads[6];
  start_all(threads, 6, waits_once, &all);
  lock_when_waiting(&all, 6);
  for (int i = 1; i <= 6; ++i) {
    EQUAL(pthread_cond_signal(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    lock_when_returned(&all, i);
  }
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join_all(threads, 6);
}

TEST(condition_as_many_signals_as_waiters, "n signals at once wake all of n waiters") {
  struct waiters all = WAITERS;
  pthread_t threads[8];
  start_all(threads, 8, waits_once, &all);
  lock_when_waiting(&all, 8);
  for (int i = 0; i != 8; ++i) EQUAL(pthread_cond_signal(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join_all(threads, 8);
}

TEST(condition_signals_without_the_mutex, "n signals wake n waiters even if the mutex is not held") {
  struct waiters all = WAITERS;
  pthread_t threads[8];
  start_all(threads, 8, waits_once, &all);
  lock_when_waiting(&all, 8);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int i = 0; i != 8; ++i) EQUAL(pthread_cond_signal(&all.condition), 0);
  join_all(threads, 8);
}

TEST(condition_broadcast_wakes_all, "a broadcast wakes all waiters") {
  struct waiters all = WAITERS;
  pthread_t threads[12];
  start_all(threads, 12, waits_once, &all);
  lock_when_waiting(&all, 12);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join_all(threads, 12);
  EQUAL(all.returned, 12);
}

TEST(condition_broadcast_without_the_mutex, "a broadcast wakes all waiters even if the mutex is not held") {
  struct waiters all = WAITERS;
  pthread_t threads[12];
  start_all(threads, 12, waits_once, &all);
  lock_when_waiting(&all, 12);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  join_all(threads, 12);
}

TEST(condition_broadcast_wakes_sleepers, "a broadcast wakes waiters that have slept for a while") {
  struct waiters all = WAITERS;
  pthread_t threads[4];
  start_all(threads, 4, waits_once, &all);
  lock_when_waiting(&all, 4);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  nap(20);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  join_all(threads, 4);
}

static void* waits_in_rounds(void* argument) {
  struct waiters* const all = argument;
  EQUAL(pthread_mutex_lock(&all->mutex), 0);
  for (int round = 1; round <= 20; ++round) {
    ++all->waiting;
    while (all->go < round) EQUAL(pthread_cond_wait(&all->condition, &all->mutex), 0);
  }
  EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  return NULL;
}

TEST(condition_broadcasts_in_rounds, "threads that return after a broadcast can wait for the next one") {
  struct waiters all = WAITERS;
  pthread_t threads[4];
  start_all(threads, 4, waits_in_rounds, &all);
  for (int round = 1; round <= 20; ++round) {
    lock_when_waiting(&all, 4 * round);
    all.go = round;
    EQUAL(pthread_cond_broadcast(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  }
  join_all(threads, 4);
}

// Two threads, each of which waits until it is its turn.
struct game {
  struct waiters all;
  long turns;
  int player;
  bool outside;
};

static void play(struct game* game, int me) {
  for (long turn = 0; turn != game->turns; ++turn) {
    EQUAL(pthread_mutex_lock(&game->all.mutex), 0);
    while (game->player != me) EQUAL(pthread_cond_wait(&game->all.condition, &game->all.mutex), 0);
    game->player = !me;
    if (!game->outside) EQUAL(pthread_cond_signal(&game->all.condition), 0);
    EQUAL(pthread_mutex_unlock(&game->all.mutex), 0);
    if (game->outside) EQUAL(pthread_cond_signal(&game->all.condition), 0);
  }
}

static void* plays(void* game) {
  play(game, 1);
  return NULL;
}

TEST(condition_ping_pong, "releasing the mutex and waiting is one atomic step: no signal in between is lost") {
  struct game game = {.all = WAITERS, .turns = turns(2000)};
  const pthread_t thread = start(plays, &game);
  play(&game, 0);
  join(thread);
}

TEST(condition_ping_pong_outside, "a signal that is sent after the mutex was unlocked is not lost") {
  struct game game = {.all = WAITERS, .turns = turns(2000), .outside = true};
  const pthread_t thread = start(plays, &game);
  play(&game, 0);
  join(thread);
}

TEST(condition_mutex_is_held_on_return, "the mutex is held when a wait returns") {
  struct waiters all = WAITERS;
  const pthread_t thread = start(waits_once, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_cond_signal(&all.condition), 0);
  nap(5);  // the waiter is woken, but must not return: this thread holds the mutex
  EQUAL(all.returned, 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join(thread);
}

static void* checks_the_mutex(void* argument) {
  struct waiters* const all = argument;
  EQUAL(pthread_mutex_lock(&all->mutex), 0);
  ++all->waiting;
  EQUAL(pthread_cond_wait(&all->condition, &all->mutex), 0);
  EQUAL(pthread_mutex_trylock(&all->mutex), EBUSY);
  EQUAL(++all->returned, 1);  // no other thread at the same time
  sched_yield();
  EQUAL(all->returned--, 1);
  EQUAL(pthread_mutex_unlock(&all->mutex), 0);
  return NULL;
}

TEST(condition_mutex_excludes_woken_waiters,
     "only one of the waiters that a broadcast wakes holds the mutex at a time") {
  struct waiters all = WAITERS;
  pthread_t threads[8];
  start_all(threads, 8, checks_the_mutex, &all);
  lock_when_waiting(&all, 8);
  EQUAL(pthread_cond_broadcast(&all.condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  join_all(threads, 8);
}

TEST(condition_mutex_is_free_during_the_wait, "other threads can lock the mutex while a thread waits") {
  struct waiters all = WAITERS;
  const pthread_t thread = start(waits_to_go, &all);
  lock_when_waiting(&all, 1);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  for (int turn = 0; turn != 100; ++turn) {
    EQUAL(pthread_mutex_lock(&all.mutex), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  }
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  all.go = 1;
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  EQUAL(pthread_cond_signal(&all.condition), 0);
  join(thread);
}

TEST(condition_with_another_mutex_later, "a condition without waiters may be used with another mutex") {
  struct waiters all = WAITERS;
  for (int turn = 0; turn != 10; ++turn) {
    pthread_t threads[3];
    start_all(threads, 3, waits_once, &all);
    lock_when_waiting(&all, 3);
    EQUAL(pthread_cond_broadcast(&all.condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    join_all(threads, 3);
    EQUAL(pthread_mutex_destroy(&all.mutex), 0);
    all.mutex = mutex_of_type(turn % 2 != 0 ? PTHREAD_MUTEX_NORMAL : PTHREAD_MUTEX_RECURSIVE);
  }
}

TEST(condition_thousands, "each of thousands of conditions wakes only its own waiters") {
  enum { count = 4000, threads = 8 };
  static struct waiters all[count];  // all zero, like the static initialiser
  pthread_t waiting[threads];
  for (int i = 0; i != threads; ++i) waiting[i] = start(waits_once, &all[i * (count / threads)]);
  for (int i = 0; i != threads; ++i) {
    lock_when_waiting(&all[i * (count / threads)], 1);
    EQUAL(pthread_mutex_unlock(&all[i * (count / threads)].mutex), 0);
  }
  for (int i = 0; i != count; ++i)
    if (i % (count / threads) != 0) EQUAL(pthread_cond_broadcast(&all[i].condition), 0);
  for (int i = 0; i != threads; ++i) {
    struct waiters* const target = &all[i * (count / threads)];
    EQUAL(pthread_mutex_lock(&target->mutex), 0);
    EQUAL(target->returned, 0);
    EQUAL(pthread_cond_signal(&target->condition), 0);
    EQUAL(pthread_mutex_unlock(&target->mutex), 0);
  }
  join_all(waiting, threads);
}
