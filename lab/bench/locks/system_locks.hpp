// SPDX-License-Identifier: Apache-2.0
// Adapters for the locks and semaphores of the system, and for those of concurrencykit where it is installed.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cerrno>
#include <vector>

#include "harness/errors.hpp"
#include "harness/placement.hpp"
#include "locks/adapters.hpp"

#if FAIRLOCK_BENCH_CK
#include <ck_pr.h>
// In these headers a void* converts implicitly, because they are C. This macro casts the result. The name inside it
// does not expand again, so it calls the function.
#define ck_pr_fas_ptr(where, value) \
  static_cast<std::remove_reference_t<decltype(*(where))>>(ck_pr_fas_ptr(where, value))
#include <ck_spinlock.h>
#undef ck_pr_fas_ptr
#endif

namespace bench {

template <int Protocol>
struct Pthread {
  using Context = NoContext;
  pthread_mutex_t mutex;

  explicit Pthread(Size) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (pthread_mutexattr_setprotocol(&attributes, Protocol) != 0 || pthread_mutex_init(&mutex, &attributes) != 0)
      refuse("pthread-mutex-pi: this system has no priority inheritance; choose another lock");
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

struct PosixSemaphore {
  using Context = NoContext;
  sem_t semaphore;

  explicit PosixSemaphore(Size size) { sem_init(&semaphore, 0, static_cast<unsigned>(size.permits)); }
  ~PosixSemaphore() { sem_destroy(&semaphore); }

  template <class F>
  void episode(Context&, F&& body) {
    while (sem_wait(&semaphore) != 0 && errno == EINTR) {}
    body();
    sem_post(&semaphore);
  }
};

#if FAIRLOCK_BENCH_CK

struct CkTicket {
  using Context = NoContext;
  ck_spinlock_ticket_t lock;

  explicit CkTicket(Size) { ck_spinlock_ticket_init(&lock); }

  template <class F>
  void episode(Context&, F&& body) {
    ck_spinlock_ticket_lock(&lock);
    body();
    ck_spinlock_ticket_unlock(&lock);
  }
};

struct CkMcs {
  struct Context {
    ck_spinlock_mcs_context_t node;
  };
  ck_spinlock_mcs_t queue;

  explicit CkMcs(Size) { ck_spinlock_mcs_init(&queue); }

  template <class F>
  void episode(Context& context, F&& body) {
    ck_spinlock_mcs_lock(&queue, &context.node);
    body();
    ck_spinlock_mcs_unlock(&queue, &context.node);
  }
};

struct CkAnderson {
  using Context = NoContext;
  ck_spinlock_anderson_t lock;
  std::vector<ck_spinlock_anderson_thread_t> slots;

  explicit CkAnderson(Size size) : slots(size.threads) { ck_spinlock_anderson_init(&lock, slots.data(), size.threads); }

  template <class F>
  void episode(Context&, F&& body) {
    ck_spinlock_anderson_thread_t* slot;
    ck_spinlock_anderson_lock(&lock, &slot);
    body();
    ck_spinlock_anderson_unlock(&lock, slot);
  }
};

struct CkClh {
  using Context = ck_spinlock_clh_t*;  // nodes circulate: each release leaves the thread another node
  struct alignas(sector) Node {
    ck_spinlock_clh_t node;
  };
  ck_spinlock_clh_t* queue;
  std::vector<Node> nodes;

  explicit CkClh(Size size) : nodes(size.threads + 1) { ck_spinlock_clh_init(&queue, &nodes.back().node); }
  Context first_context(unsigned thread) { return &nodes[thread].node; }

  template <class F>
  void episode(Context& node, F&& body) {
    ck_spinlock_clh_lock(&queue, node);
    body();
    ck_spinlock_clh_unlock(&node);
  }
};

#endif

}  // namespace bench
