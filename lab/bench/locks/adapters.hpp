// SPDX-License-Identifier: Apache-2.0
// Adapters give every lock and semaphore the interface that the measuring loop needs. This file has those for fairlock,
// for the C++ library, and for no lock at all. system_locks.hpp and peer_mutexes.hpp have the others.
//
//   Adapter(size)       a lock for `size` threads, or a semaphore with `size` permits
//   Context             what a thread keeps between episodes: nothing, or the queue node that the lock needs
//   first_context(t)    the first context of thread t; all zero without this function
//   episode(c, body)    acquires, runs the body, and releases
#pragma once

#include <cstdint>
#include <type_traits>

#include <fairlock/episode.hpp>

namespace bench {

struct NoContext {};

struct Size {
  unsigned threads;
  std::uint64_t permits;
};

// A lock of fairlock whose episode is on the stack, where concurrencykit's callers keep theirs too.
template <fairlock::EpisodicLock L>
struct Guarded {
  using Context = NoContext;
  L lock{};

  explicit Guarded(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    fairlock::Guard guard(lock);
    body();
  }
};

// A lock with lock() and unlock(): fairlock::Mutex, which stores the episode in the lock, and std::mutex.
template <class M>
struct Lockable {
  using Context = NoContext;
  M mutex{};

  explicit Lockable(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    mutex.lock();
    body();
    mutex.unlock();
  }
};

// A semaphore of fairlock, or std::counting_semaphore. With one permit it is a mutex.
template <class S>
struct Permits {
  using Context = NoContext;
  S semaphore;

  explicit Permits(Size size) : semaphore(static_cast<std::ptrdiff_t>(size.permits)) {}

  template <class F>
  void episode(Context&, F&& body) {
    semaphore.acquire();
    body();
    semaphore.release();
  }
};

// A lock inside a semaphore: a capacitor must be better than this.
template <class S, fairlock::EpisodicLock L>
struct SemaphoreAround {
  using Context = NoContext;
  S semaphore{};
  L lock{};

  explicit SemaphoreAround(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    semaphore.acquire();
    {
      fairlock::Guard guard(lock);
      body();
    }
    semaphore.release();
  }
};

// No lock: admits every thread at once. It is measured as `broken`, where the check of exclusion must fail, and as
// `nolock`, whose threads share no data.
struct NoLock {
  using Context = NoContext;

  explicit NoLock(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    body();
  }
};

}  // namespace bench
