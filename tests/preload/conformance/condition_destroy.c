// SPDX-License-Identifier: Apache-2.0
// Conditions: a condition may be destroyed, and its memory reused, as soon as all waiters have been notified.
#include "condition_waiters.h"

#include <stdatomic.h>

enum { threads = 4 };

// The condition has its own memory, which goes away. The mutex stays.
struct apart {
  pthread_mutex_t mutex;
  pthread_cond_t* condition;
  int waiting, go;
};

static struct apart all = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

// Does not touch the condition once the condition may be destroyed.
static void* waits(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  while (!all.go) EQUAL(pthread_cond_wait(all.condition, &all.mutex), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

static void begin(pthread_t* started, pthread_cond_t* condition, void* (*function)(void*)) {
  all.condition = condition;
  all.waiting = all.go = 0;
  EQUAL(pthread_cond_init(condition, NULL), 0);
  for (int i = 0; i != threads; ++i) started[i] = start(function, NULL);
  for (bool ready = false; !ready; sched_yield()) {
    EQUAL(pthread_mutex_lock(&all.mutex), 0);
    ready = all.waiting == threads;
    if (!ready) EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  }
  all.go = 1;  // with the mutex held
}

static void end(const pthread_t* started) {
  for (int i = 0; i != threads; ++i) join(started[i]);
}

TEST(condition_destroyed_after_broadcast,
     "a condition may be destroyed right after a broadcast, and its memory reused") {
  static pthread_cond_t condition;
  for (int turn = 0; turn != turns(40); ++turn) {
    pthread_t started[threads];
    begin(started, &condition, waits);
    EQUAL(pthread_cond_broadcast(&condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_destroy(&condition), 0);
    memset(&condition, turn % 2 != 0 ? 0xFF : 0, sizeof condition);
    end(started);
    for (size_t i = 0; i != sizeof condition; ++i) EQUAL(((unsigned char*)&condition)[i], turn % 2 != 0 ? 0xFF : 0);
  }
}

TEST(condition_destroyed_with_the_mutex_held,
     "a condition may be destroyed while the mutex is held: destroying does not wait for threads that want the mutex") {
  static pthread_cond_t condition;
  for (int turn = 0; turn != turns(40); ++turn) {
    pthread_t started[threads];
    begin(started, &condition, waits);
    EQUAL(pthread_cond_broadcast(&condition), 0);
    EQUAL(pthread_cond_destroy(&condition), 0);
    memset(&condition, 0xFF, sizeof condition);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    end(started);
  }
}

TEST(condition_destroyed_after_signals_to_all,
     "a condition may be destroyed once it has received one signal for each waiter") {
  static pthread_cond_t condition;
  for (int turn = 0; turn != turns(40); ++turn) {
    pthread_t started[threads];
    begin(started, &condition, waits);
    for (int i = 0; i != threads; ++i) EQUAL(pthread_cond_signal(&condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_destroy(&condition), 0);
    memset(&condition, 0xFF, sizeof condition);
    end(started);
  }
}

TEST(condition_unmapped_after_broadcast,
     "the memory of a condition that is destroyed right after a broadcast may be unmapped") {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int turn = 0; turn != turns(40); ++turn) {
    pthread_t started[threads];
    pthread_cond_t* const condition = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(condition != MAP_FAILED);
    begin(started, condition, waits);
    EQUAL(pthread_cond_broadcast(condition), 0);
    if (turn % 2 != 0) EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_destroy(condition), 0);
    EQUAL(munmap(condition, page), 0);
    if (turn % 2 == 0) EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    end(started);
  }
}

static void* waits_until_a_deadline(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  ++all.waiting;
  while (!all.go) {
    const struct timespec soon = deadline(CLOCK_REALTIME, 1);
    const int result = pthread_cond_timedwait(all.condition, &all.mutex, &soon);
    CHECK(result == 0 || result == ETIMEDOUT);
  }
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

TEST(condition_unmapped_at_a_deadline,
     "the memory may be unmapped even if the waiters may be timing out at that moment") {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (int turn = 0; turn != turns(40); ++turn) {
    pthread_t started[threads];
    pthread_cond_t* const condition = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(condition != MAP_FAILED);
    begin(started, condition, waits_until_a_deadline);
    EQUAL(pthread_cond_broadcast(condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_destroy(condition), 0);
    EQUAL(munmap(condition, page), 0);
    end(started);
  }
}

TEST(condition_made_again_after_broadcast,
     "a condition may be initialised again right after a broadcast, and used while the first waiters still leave") {
  static pthread_cond_t condition;
  pthread_t before[threads], after[threads];
  begin(before, &condition, waits);
  for (int turn = 0; turn != turns(20); ++turn) {
    EQUAL(pthread_cond_broadcast(&condition), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    EQUAL(pthread_cond_destroy(&condition), 0);
    end(before);  // they leave before `go` is reset
    begin(after, &condition, waits);
    memcpy(before, after, sizeof before);
  }
  EQUAL(pthread_cond_broadcast(&condition), 0);
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  end(before);
}

// A request on the stack of its thread: the condition ceases to exist as soon as the request is done.
struct request {
  pthread_cond_t done;
  bool is_done;
  struct request* next;
};
static struct request* requests;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static atomic_int left;

static void* serves(void* unused) {
  EQUAL(pthread_mutex_lock(&all.mutex), 0);
  while (left != 0) {
    while (requests == NULL) EQUAL(pthread_cond_wait(&asked, &all.mutex), 0);
    struct request* const request = requests;
    requests = request->next;
    request->is_done = true;
    EQUAL(pthread_cond_signal(&request->done), 0);
    --left;
  }
  EQUAL(pthread_mutex_unlock(&all.mutex), 0);
  return unused;
}

static void* asks(void* times) {
  for (long i = 0; i != (long)times; ++i) {
    struct request request = {.done = PTHREAD_COND_INITIALIZER};
    EQUAL(pthread_mutex_lock(&all.mutex), 0);
    request.next = requests;
    requests = &request;
    EQUAL(pthread_cond_signal(&asked), 0);
    while (!request.is_done) EQUAL(pthread_cond_wait(&request.done, &all.mutex), 0);
    EQUAL(pthread_mutex_unlock(&all.mutex), 0);
    if (i % 2 != 0) EQUAL(pthread_cond_destroy(&request.done), 0);
    memset(&request, 0xFF, sizeof request);
    __asm__ volatile("" ::"r"(&request) : "memory");
  }
  return NULL;
}

TEST(condition_on_the_stack, "a condition on a stack may cease to exist as soon as its only waiter has returned") {
  const long times = turns(100);
  pthread_t askers[3];
  left = (int)(3 * times);
  const pthread_t server = start(serves, NULL);
  for (int i = 0; i != 3; ++i) askers[i] = start(asks, (void*)times);
  for (int i = 0; i != 3; ++i) join(askers[i]);
  join(server);
}

TEST(condition_shared_destroyed_after_broadcast,
     "a process-shared condition with a private mutex may be destroyed right after a broadcast") {
  pthread_condattr_t attributes;
  EQUAL(pthread_condattr_init(&attributes), 0);
  EQUAL(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  for (int turn = 0; turn != turns(20); ++turn) {
    struct waiters some = WAITERS;
    pthread_t started[threads];
    EQUAL(pthread_cond_init(&some.condition, &attributes), 0);
    for (int i = 0; i != threads; ++i) started[i] = start(waits_to_go, &some);
    lock_when_waiting(&some, threads);
    some.go = threads;
    EQUAL(pthread_cond_broadcast(&some.condition), 0);
    if (turn % 2 != 0) EQUAL(pthread_mutex_unlock(&some.mutex), 0);
    EQUAL(pthread_cond_destroy(&some.condition), 0);
    memset(&some.condition, 0xFF, sizeof some.condition);
    if (turn % 2 == 0) EQUAL(pthread_mutex_unlock(&some.mutex), 0);
    end(started);
  }
}
