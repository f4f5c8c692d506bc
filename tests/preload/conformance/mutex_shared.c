// SPDX-License-Identifier: Apache-2.0
// Process-shared mutexes, which are left to glibc: other processes may use other locks.
#include "kinds.h"

static struct shared {
  pthread_mutex_t mutex;
  long count;
}* shared;

static void make_shared(int type, int robust) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK((void*)shared != MAP_FAILED);
  mutex = &shared->mutex;
  make(type, PTHREAD_PRIO_NONE, robust, PTHREAD_PROCESS_SHARED);
}

static void increment(void) {
  for (int i = 0; i != 500; ++i) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    const long before = shared->count;
    if (i % 16 == 0) sched_yield();
    shared->count = before + 1;
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
}

TEST(shared_excludes, "only one thread of several processes holds a process-shared mutex at a time") {
  pid_t children[3];
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  for (int i = 0; i != 3; ++i) children[i] = in_child(increment);
  increment();
  for (int i = 0; i != 3; ++i) ends_well(children[i]);
  EQUAL(shared->count, 4 * 500);
}

static void find_it_busy(void) {
  const struct timespec soon = deadline(CLOCK_REALTIME, 5);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_timedlock(mutex, &soon), ETIMEDOUT);
  CHECK(has_passed(CLOCK_REALTIME, soon));
}

TEST(shared_busy, "a process-shared mutex that one process holds is busy for another") {
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  EQUAL(pthread_mutex_lock(mutex), 0);
  ends_well(in_child(find_it_busy));
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static void lock_and_count(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ++shared->count;
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

TEST(shared_blocks, "a process that waits for a process-shared mutex continues when another process unlocks it") {
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pid_t child = in_child(lock_and_count);
  nap(3);
  EQUAL(shared->count, 0);
  EQUAL(waitpid(child, NULL, WNOHANG), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  ends_well(child);
  EQUAL(shared->count, 1);
}

static void unlock_in_vain(void) { EQUAL(pthread_mutex_unlock(mutex), EPERM); }

TEST(shared_errorcheck, "a process cannot unlock a process-shared errorcheck mutex that another process holds") {
  make_shared(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_lock(mutex), EDEADLK);
  ends_well(in_child(unlock_in_vain));
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

static void lock_and_end(void) { EQUAL(pthread_mutex_lock(mutex), 0); }

TEST(shared_robust,
     "when a process ends while it holds a robust process-shared mutex, the next process gets EOWNERDEAD") {
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  ends_well(in_child(lock_and_end));
  EQUAL(pthread_mutex_lock(mutex), EOWNERDEAD);
  EQUAL(pthread_mutex_consistent(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  ends_well(in_child(lock_and_count));
}

static void lock_and_be_killed(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  shared->count = 1;
  for (;;) pause();
}

TEST(shared_robust_killed, "a robust process-shared mutex of a killed process goes to the waiter, with EOWNERDEAD") {
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  const pid_t child = in_child(lock_and_be_killed);
  while (*(volatile long*)&shared->count == 0) nap(0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(kill(child, SIGKILL), 0);
  EQUAL(pthread_mutex_lock(mutex), EOWNERDEAD);
  EQUAL(waitpid(child, NULL, 0), child);
}

static pthread_mutex_t of_this_process = PTHREAD_MUTEX_INITIALIZER;

static void* increments_under_both(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    EQUAL(pthread_mutex_lock(&of_this_process), 0);
    EQUAL(pthread_mutex_lock(mutex), 0);
    ++shared->count;
    EQUAL(pthread_mutex_unlock(mutex), 0);
    EQUAL(pthread_mutex_unlock(&of_this_process), 0);
  }
  return NULL;
}

static void increment_by_threads(void) {
  const pthread_t one = start(increments_under_both, (void*)turns(100)),
                  other = start(increments_under_both, (void*)turns(100));
  join(one);
  join(other);
}

TEST(shared_beside_private,
     "threads of several processes share one mutex, while they hold a private mutex of their own process") {
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  const pid_t child = in_child(increment_by_threads);
  increment_by_threads();
  ends_well(child);
  EQUAL(shared->count, 4 * turns(100));
}

// --- without the attribute: POSIX promises nothing, but glibc's mutex works as long as no process has to wait ---

static void make_private_in_shared_memory(void) {
  make_shared(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
  EQUAL(pthread_mutex_destroy(mutex), 0);
  EQUAL(pthread_mutex_init(mutex, NULL), 0);
}

TEST(shared_in_turn, "processes may take turns with a mutex in shared memory, even if it is not process-shared") {
  make_private_in_shared_memory();
  lock_and_count();
  for (int i = 0; i != 3; ++i) {
    ends_well(in_child(lock_and_count));
    lock_and_count();
  }
  EQUAL(shared->count, 7);
}

TEST(shared_zero, "the same holds for a mutex in shared memory that was only zeroed, not initialised") {
  make_private_in_shared_memory();
  memset(mutex, 0, sizeof *mutex);
  for (int i = 0; i != 3; ++i) {
    ends_well(in_child(lock_and_count));
    lock_and_count();
  }
  EQUAL(shared->count, 6);
}

TEST(shared_memory_replaced, "a mutex in private memory that replaces shared memory is not process-shared") {
  make_private_in_shared_memory();
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  CHECK(mmap(shared, sizeof *shared, PROT_READ | PROT_WRITE, flags, -1, 0) == (void*)shared);
  lock_and_count();
  EQUAL(mutex->__data.__kind & 128, 0);
  EQUAL(pthread_mutex_init(mutex, NULL), 0);
  EQUAL(mutex->__data.__kind & 128, 0);
}
