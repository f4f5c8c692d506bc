// SPDX-License-Identifier: Apache-2.0
// Conditions: queues, barriers, latches and read-write locks that programs build from them, and C11's conditions.
#include "condition_waiters.h"

#include <threads.h>

// --- a bounded queue ---

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t not_full, not_empty;
  int items[4], count, first;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void put(int item) {
  EQUAL(pthread_mutex_lock(&queue.mutex), 0);
  while (queue.count == 4) EQUAL(pthread_cond_wait(&queue.not_full, &queue.mutex), 0);
  queue.items[(queue.first + queue.count++) % 4] = item;
  EQUAL(pthread_cond_signal(&queue.not_empty), 0);
  EQUAL(pthread_mutex_unlock(&queue.mutex), 0);
}

static int take(void) {
  EQUAL(pthread_mutex_lock(&queue.mutex), 0);
  while (queue.count == 0) EQUAL(pthread_cond_wait(&queue.not_empty, &queue.mutex), 0);
  const int item = queue.items[queue.first];
  queue.first = (queue.first + 1) % 4;
  --queue.count;
  EQUAL(pthread_mutex_unlock(&queue.mutex), 0);
  EQUAL(pthread_cond_signal(&queue.not_full), 0);
  return item;
}

static void* produces(void* count) {
  for (int i = 1; i <= (int)(long)count; ++i) put(i);
  return NULL;
}

static void* consumes(void* unused) {
  long sum = 0;
  for (int item; (item = take()) != 0;) sum += item;
  (void)unused;
  return (void*)sum;
}

static void expect_all_consumed(int producers, int consumers, long count) {
  pthread_t makers[4], eaters[4];
  for (int i = 0; i != consumers; ++i) eaters[i] = start(consumes, NULL);
  for (int i = 0; i != producers; ++i) makers[i] = start(produces, (void*)count);
  for (int i = 0; i != producers; ++i) join(makers[i]);
  for (int i = 0; i != consumers; ++i) put(0);
  long sum = 0;
  for (int i = 0; i != consumers; ++i) sum += (long)join(eaters[i]);
  EQUAL(sum, producers * (count * (count + 1) / 2));
}

TEST(condition_queue_one_to_one, "a bounded queue with one producer and one consumer loses nothing") {
  expect_all_consumed(1, 1, turns(1000));
}
TEST(condition_queue_many_to_one, "a bounded queue with several producers loses nothing") {
  expect_all_consumed(4, 1, turns(100));
}
TEST(condition_queue_one_to_many, "a bounded queue with several consumers loses nothing") {
  expect_all_consumed(1, 4, turns(400));
}
TEST(condition_queue_many_to_many, "a bounded queue with several producers and consumers loses nothing") {
  expect_all_consumed(4, 4, turns(100));
}

// --- a reusable barrier ---

enum { parties = 5, rounds = 30 };

static struct {
  struct waiters all;
  int here, round, sums[rounds];
} barrier = {.all = WAITERS};

static void meet(void) {
  EQUAL(pthread_mutex_lock(&barrier.all.mutex), 0);
  const int round = barrier.round;
  if (++barrier.here == parties) {
    barrier.here = 0;
    ++barrier.round;
    EQUAL(pthread_cond_broadcast(&barrier.all.condition), 0);
  }
  while (barrier.round == round) EQUAL(pthread_cond_wait(&barrier.all.condition, &barrier.all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&barrier.all.mutex), 0);
}

static void* meets(void* unused) {
  for (int round = 0; round != rounds; ++round) {
    __atomic_fetch_add(&barrier.sums[round], 1, __ATOMIC_RELAXED);
    meet();
    EQUAL(__atomic_load_n(&barrier.sums[round], __ATOMIC_RELAXED), parties);
  }
  return unused;
}

TEST(condition_barrier, "a barrier made of a condition releases no thread before all have arrived") {
  pthread_t threads[parties];
  for (int i = 0; i != parties; ++i) threads[i] = start(meets, NULL);
  for (int i = 0; i != parties; ++i) join(threads[i]);
}

// --- readers and writers ---

static struct {
  struct waiters all;
  int readers, writers;
  long value, copy;
} book = {.all = WAITERS};

static void* reads(void* unused) {
  for (int turn = 0; turn != 50; ++turn) {
    EQUAL(pthread_mutex_lock(&book.all.mutex), 0);
    while (book.writers != 0) EQUAL(pthread_cond_wait(&book.all.condition, &book.all.mutex), 0);
    ++book.readers;
    EQUAL(pthread_mutex_unlock(&book.all.mutex), 0);
    EQUAL(book.value, book.copy);
    EQUAL(pthread_mutex_lock(&book.all.mutex), 0);
    if (--book.readers == 0) EQUAL(pthread_cond_broadcast(&book.all.condition), 0);
    EQUAL(pthread_mutex_unlock(&book.all.mutex), 0);
  }
  return unused;
}

static void* writes(void* unused) {
  for (int turn = 0; turn != 30; ++turn) {
    EQUAL(pthread_mutex_lock(&book.all.mutex), 0);
    while (book.writers != 0 || book.readers != 0) EQUAL(pthread_cond_wait(&book.all.condition, &book.all.mutex), 0);
    book.writers = 1;
    EQUAL(pthread_mutex_unlock(&book.all.mutex), 0);
    ++book.value;
    if (turn % 8 == 0) sched_yield();
    ++book.copy;
    EQUAL(pthread_mutex_lock(&book.all.mutex), 0);
    book.writers = 0;
    EQUAL(pthread_cond_broadcast(&book.all.condition), 0);
    EQUAL(pthread_mutex_unlock(&book.all.mutex), 0);
  }
  return unused;
}

TEST(condition_readers_and_writers,
     "a read-write lock made of a condition separates writers from other threads, and shows readers every write") {
  pthread_t threads[5];
  for (int i = 0; i != 5; ++i) threads[i] = start(i < 3 ? reads : writes, NULL);
  for (int i = 0; i != 5; ++i) join(threads[i]);
  EQUAL(book.value, 60);
}

// --- a latch: the waiter sees all earlier writes ---

static struct waiters latch = WAITERS;
static int written[8];

static void* counts_down(void* number) {
  written[(long)number] = (int)(long)number;
  EQUAL(pthread_mutex_lock(&latch.mutex), 0);
  if (++latch.go == 8) EQUAL(pthread_cond_signal(&latch.condition), 0);
  EQUAL(pthread_mutex_unlock(&latch.mutex), 0);
  return NULL;
}

TEST(condition_latch, "a thread that waits until eight others are ready sees everything that they have written") {
  pthread_t threads[8];
  for (long i = 0; i != 8; ++i) threads[i] = start(counts_down, (void*)i);
  EQUAL(pthread_mutex_lock(&latch.mutex), 0);
  while (latch.go != 8) EQUAL(pthread_cond_wait(&latch.condition, &latch.mutex), 0);
  for (int i = 0; i != 8; ++i) EQUAL(written[i], i);
  EQUAL(pthread_mutex_unlock(&latch.mutex), 0);
  for (int i = 0; i != 8; ++i) join(threads[i]);
}

// --- a ring of threads, each with a condition of its own, and one mutex ---

enum { ring = 6, laps = 40 };
static pthread_cond_t seats[ring];  // all zero, like the static initialiser
static int turn_of;

static void* passes_on(void* seat) {
  const int own = (int)(long)seat;
  EQUAL(pthread_mutex_lock(&latch.mutex), 0);
  for (int lap = 0; lap != turns(laps); ++lap) {
    while (turn_of % ring != own) EQUAL(pthread_cond_wait(&seats[own], &latch.mutex), 0);
    ++turn_of;
    EQUAL(pthread_cond_signal(&seats[turn_of % ring]), 0);
  }
  EQUAL(pthread_mutex_unlock(&latch.mutex), 0);
  return NULL;
}

TEST(condition_ring, "several conditions may share a mutex, and a signal wakes only a waiter of its own condition") {
  pthread_t threads[ring];
  for (long i = 0; i != ring; ++i) threads[i] = start(passes_on, (void*)i);
  for (int i = 0; i != ring; ++i) join(threads[i]);
  EQUAL(turn_of, ring * turns(laps));
}

// --- C11's ---

static mtx_t c11_mutex;
static cnd_t c11_condition;
static int c11_turn;

static void play(int me) {
  for (int turn = 0; turn != 100; ++turn) {
    EQUAL(mtx_lock(&c11_mutex), thrd_success);
    while (c11_turn != me) EQUAL(cnd_wait(&c11_condition, &c11_mutex), thrd_success);
    c11_turn = !me;
    EQUAL(cnd_signal(&c11_condition), thrd_success);
    EQUAL(mtx_unlock(&c11_mutex), thrd_success);
    put(turn);
    take();
  }
}

static int plays(void* unused) {
  (void)unused;
  play(1);
  return 7;
}

TEST(condition_beside_c11, "C11's mutexes and conditions work beside those of POSIX") {
  thrd_t thread;
  int result;
  EQUAL(mtx_init(&c11_mutex, mtx_plain), thrd_success);
  EQUAL(cnd_init(&c11_condition), thrd_success);
  EQUAL(thrd_create(&thread, plays, NULL), thrd_success);
  play(0);
  EQUAL(thrd_join(thread, &result), thrd_success);
  EQUAL(result, 7);
  cnd_destroy(&c11_condition);
  mtx_destroy(&c11_mutex);
}

TEST(condition_c11_timeout, "C11's timed waits time out beside those of POSIX") {
  EQUAL(mtx_init(&c11_mutex, mtx_timed), thrd_success);
  EQUAL(cnd_init(&c11_condition), thrd_success);
  const struct timespec soon = deadline(CLOCK_REALTIME, 3);
  EQUAL(mtx_lock(&c11_mutex), thrd_success);
  EQUAL(cnd_timedwait(&c11_condition, &c11_mutex, &soon), thrd_timedout);
  CHECK(has_passed(CLOCK_REALTIME, soon));
  EQUAL(mtx_unlock(&c11_mutex), thrd_success);
}
