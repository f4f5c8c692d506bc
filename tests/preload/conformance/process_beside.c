// SPDX-License-Identifier: Apache-2.0
// Functions that are left to glibc work beside replaced mutexes: other locks, and functions that take locks internally.
#include "kinds.h"

#include <stdatomic.h>
#include <threads.h>

enum { workers = 4 };

static long count;
static void (*work)(long turn);

static void* works(void* times) {
  for (long i = 0; i != (long)times; ++i) work(i);
  return NULL;
}

static void let_all(void (*function)(long), long times) {
  pthread_t threads[workers];
  work = function;
  for (int i = 0; i != workers; ++i) threads[i] = start(works, (void*)times);
  for (int i = 0; i != workers; ++i) join(threads[i]);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void read_or_write(long turn) {
  if (turn % 4 == 0) {
    EQUAL(pthread_rwlock_wrlock(&rwlock), 0);
    EQUAL(pthread_mutex_trylock(mutex), 0);  // there is no reader
    ++count;
    EQUAL(pthread_mutex_unlock(mutex), 0);
  } else {
    EQUAL(pthread_rwlock_rdlock(&rwlock), 0);
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
  EQUAL(pthread_rwlock_unlock(&rwlock), 0);
}

TEST(beside_rwlock, "mutexes, locked while a read-write lock is held") {
  let_all(read_or_write, turns(100));
  EQUAL(count, workers * ((turns(100) + 3) / 4));
}

TEST(beside_timed_rwlock, "a read-write lock under a mutex, with a deadline") {
  const struct timespec soon = deadline(CLOCK_REALTIME, 5);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_rwlock_rdlock(&rwlock), 0);
  EQUAL(pthread_rwlock_timedwrlock(&rwlock, &soon), ETIMEDOUT);
  EQUAL(pthread_rwlock_unlock(&rwlock), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static pthread_spinlock_t spinlock;

static void spin(long turn) {
  (void)turn;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_spin_trylock(&spinlock), 0);
  ++count;
  EQUAL(pthread_spin_unlock(&spinlock), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

TEST(beside_spinlock, "spin locks, taken while a mutex is held") {
  EQUAL(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE), 0);
  let_all(spin, turns(100));
  EQUAL(count, workers * turns(100));
}

static pthread_barrier_t barrier;

static void meet(long turn) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ++count;
  EQUAL(pthread_mutex_unlock(mutex), 0);
  pthread_barrier_wait(&barrier);
  EQUAL(count, (turn + 1) * workers);
  pthread_barrier_wait(&barrier);
}

TEST(beside_barrier, "threads that meet at a barrier after they have held a mutex") {
  EQUAL(pthread_barrier_init(&barrier, NULL, workers), 0);
  let_all(meet, turns(50));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void do_once(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ++count;
  nap(2);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static void ask_for_it(long turn) {
  (void)turn;
  EQUAL(pthread_once(&once, do_once), 0);
  EQUAL(count, 1);
}

TEST(beside_once, "the function that pthread_once calls may lock, while other threads wait for it") {
  let_all(ask_for_it, 5);
}

static mtx_t c11_mutex;
static cnd_t c11_condition;

static void use_c11(long turn) {
  (void)turn;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(mtx_lock(&c11_mutex), thrd_success);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  ++count;
  EQUAL(cnd_signal(&c11_condition), thrd_success);
  EQUAL(mtx_unlock(&c11_mutex), thrd_success);
}

static int waits_for_c11(void* until) {
  EQUAL(mtx_lock(&c11_mutex), thrd_success);
  while (count != (long)until) EQUAL(cnd_wait(&c11_condition, &c11_mutex), thrd_success);
  EQUAL(mtx_unlock(&c11_mutex), thrd_success);
  return 7;
}

TEST(beside_c11, "C11's mutexes and conditions work beside those of POSIX") {
  thrd_t waiter;
  int result;
  EQUAL(mtx_init(&c11_mutex, mtx_plain), thrd_success);
  EQUAL(cnd_init(&c11_condition), thrd_success);
  EQUAL(thrd_create(&waiter, waits_for_c11, (void*)(workers * turns(50))), thrd_success);
  let_all(use_c11, turns(50));
  EQUAL(thrd_join(waiter, &result), thrd_success);
  EQUAL(result, 7);
}

static FILE* file;

static void write_a_line(long turn) {
  flockfile(file);
  EQUAL(pthread_mutex_lock(mutex), 0);
  fprintf(file, "%ld ", turn);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  fputs("line\n", file);
  funlockfile(file);
}

TEST(beside_stdio, "mutexes, locked while one of stdio's locks is held") {
  char line[32];
  file = tmpfile();
  CHECK(file);
  let_all(write_a_line, turns(50));
  rewind(file);
  for (long turn; fgets(line, sizeof line, file); ++count) CHECK(sscanf(line, "%ld line\n", &turn) == 1);
  EQUAL(count, workers * turns(50));
}

static void allocate(long turn) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  char* const memory = malloc((size_t)(turn % 7 + 1) * 10000);
  CHECK(memory);
  memory[0] = 1;
  EQUAL(pthread_mutex_unlock(mutex), 0);
  free(memory);
}

TEST(beside_malloc, "malloc, called while a mutex is held") { let_all(allocate, turns(100)); }

// --- several mutexes at once ---

static pthread_mutex_t forks[workers];
static atomic_int seat;
static _Thread_local int own_seat = -1;

static void dine(long turn) {
  (void)turn;
  if (own_seat < 0) own_seat = seat++;
  const int left = own_seat, right = (own_seat + 1) % workers;
  EQUAL(pthread_mutex_lock(&forks[left < right ? left : right]), 0);
  EQUAL(pthread_mutex_lock(&forks[left < right ? right : left]), 0);
  EQUAL(pthread_mutex_unlock(&forks[left]), 0);
  EQUAL(pthread_mutex_unlock(&forks[right]), 0);
}

TEST(beside_philosophers, "threads that take two of several mutexes, in an agreed order, all make progress") {
  let_all(dine, turns(200));
}

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void take_both(long turn) {
  pthread_mutex_t* const first = turn % 2 ? &one : &other;
  pthread_mutex_t* const second = turn % 2 ? &other : &one;
  for (;;) {
    EQUAL(pthread_mutex_lock(first), 0);
    if (pthread_mutex_trylock(second) == 0) break;
    EQUAL(pthread_mutex_unlock(first), 0);
    sched_yield();
  }
  ++count;
  EQUAL(pthread_mutex_unlock(first), 0);
  EQUAL(pthread_mutex_unlock(second), 0);
}

TEST(beside_backing_off, "threads that take two mutexes in any order, and try the second one, all make progress") {
  let_all(take_both, turns(100));
  EQUAL(count, workers * turns(100));
}

static pthread_mutex_t chain[64];

static void walk(long turn) {
  (void)turn;
  EQUAL(pthread_mutex_lock(&chain[0]), 0);
  for (int i = 1; i != 64; ++i) {
    EQUAL(pthread_mutex_lock(&chain[i]), 0);
    EQUAL(pthread_mutex_unlock(&chain[i - 1]), 0);
  }
  EQUAL(pthread_mutex_unlock(&chain[63]), 0);
}

TEST(beside_hand_over_hand,
     "threads that walk along a list hand over hand, locking the next mutex before they unlock the last, all arrive") {
  let_all(walk, turns(40) / 4 + 1);
}
