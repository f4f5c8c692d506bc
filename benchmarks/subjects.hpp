// What is measured. Every lock, ours or another's, is a Subject: it runs a body between acquire and release, and says
// what the calling thread has to keep from one episode to the next.
//
//   Context             what a thread keeps: nothing, or the queue node that the lock asks its caller for
//   first_context(t)    thread t's first one, where all zero will not do
//   episode(c, body)    acquire, body, release
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cerrno>
#include <semaphore>
#include <type_traits>

#include <fairlock/episode.hpp>

#include "common.hpp"

#ifdef FAIRLOCK_BENCH_CK
#include <ck_pr.h>
// These headers are C: there a void* converts by itself. A macro does not expand within itself, so the call remains.
#define ck_pr_fas_ptr(where, value) \
  static_cast<std::remove_reference_t<decltype(*(where))>>(ck_pr_fas_ptr(where, value))
#include <ck_spinlock.h>
#undef ck_pr_fas_ptr
#endif

namespace bench {

struct Nothing {};

// The episode on the stack, where concurrencykit's callers keep theirs too.
template <fairlock::EpisodicLock L>
struct Guarded {
  using Context = Nothing;
  L lock{};

  template <class F>
  void episode(Context&, F&& body) {
    fairlock::Guard guard(lock);
    body();
  }
};

// lock() and unlock() without a context: fairlock::Mutex, which keeps the episode in the lock's body, and std::mutex.
template <class M>
struct Lockable {
  using Context = Nothing;
  M mutex{};

  template <class F>
  void episode(Context&, F&& body) {
    mutex.lock();
    body();
    mutex.unlock();
  }
};

template <int Protocol>
struct Pthread {
  using Context = Nothing;
  pthread_mutex_t mutex;

  Pthread() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (pthread_mutexattr_setprotocol(&attributes, Protocol) != 0 || pthread_mutex_init(&mutex, &attributes) != 0)
      fail("this system has no priority inheritance");
    pthread_mutexattr_destroy(&attributes);
  }
  ~Pthread() { pthread_mutex_destroy(&mutex); }

  template <class F>
  void episode(Context&, F&& body) {
    pthread_mutex_lock(&mutex);
    body();
    pthread_mutex_unlock(&mutex);
  }
};

// A semaphore used as a mutex: fairlock's, and std::counting_semaphore.
template <class S>
struct OnePermit {
  using Context = Nothing;
  S semaphore{1};

  template <class F>
  void episode(Context&, F&& body) {
    semaphore.acquire();
    body();
    semaphore.release();
  }
};

struct PosixSemaphore {
  using Context = Nothing;
  sem_t semaphore;

  PosixSemaphore() { sem_init(&semaphore, 0, 1); }
  ~PosixSemaphore() { sem_destroy(&semaphore); }

  template <class F>
  void episode(Context&, F&& body) {
    while (sem_wait(&semaphore) != 0 && errno == EINTR) {}
    body();
    sem_post(&semaphore);
  }
};

#ifdef FAIRLOCK_BENCH_CK

struct CkTicket {
  using Context = Nothing;
  ck_spinlock_ticket_t lock;

  CkTicket() { ck_spinlock_ticket_init(&lock); }

  template <class F>
  void episode(Context&, F&& body) {
    ck_spinlock_ticket_lock(&lock);
    body();
    ck_spinlock_ticket_unlock(&lock);
  }
};

struct CkMcs {
  struct alignas(sector) Context { ck_spinlock_mcs_context_t node; };
  ck_spinlock_mcs_t queue;

  CkMcs() { ck_spinlock_mcs_init(&queue); }

  template <class F>
  void episode(Context& context, F&& body) {
    ck_spinlock_mcs_lock(&queue, &context.node);
    body();
    ck_spinlock_mcs_unlock(&queue, &context.node);
  }
};

struct CkAnderson {
  using Context = Nothing;
  ck_spinlock_anderson_t lock;
  ck_spinlock_anderson_thread_t slots[most_threads];

  CkAnderson() { ck_spinlock_anderson_init(&lock, slots, most_threads); }

  template <class F>
  void episode(Context&, F&& body) {
    ck_spinlock_anderson_thread_t* slot;
    ck_spinlock_anderson_lock(&lock, &slot);
    body();
    ck_spinlock_anderson_unlock(&lock, slot);
  }
};

struct CkClh {
  using Context = ck_spinlock_clh_t*;  // nodes circulate: it ends up with another's
  ck_spinlock_clh_t* queue;
  struct alignas(sector) Node { ck_spinlock_clh_t node; };
  Node nodes[most_threads + 1];

  CkClh() { ck_spinlock_clh_init(&queue, &nodes[most_threads].node); }
  Context first_context(unsigned thread) { return &nodes[thread].node; }

  template <class F>
  void episode(Context& mine, F&& body) {
    ck_spinlock_clh_lock(&queue, mine);
    body();
    ck_spinlock_clh_unlock(&mine);
  }
};

#endif

}  // namespace bench
