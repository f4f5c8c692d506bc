// SPDX-License-Identifier: Apache-2.0
// What is measured. Every lock, ours or another's, is a Subject: it runs a body between acquire and release, and says
// what the calling thread has to keep from one episode to the next.
//
//   Subject(size)       made for so many threads, and with so many permits if it is a semaphore
//   Context             what a thread keeps: nothing, or the queue node that the lock asks its caller for
//   first_context(t)    thread t's first one, where all zero will not do
//   episode(c, body)    acquire, body, release
#pragma once

#include <cstdint>
#include <type_traits>

#include <fairlock/episode.hpp>

namespace bench {

struct Nothing {};

struct Size {
  unsigned threads;
  std::uint64_t permits;
};

// The episode on the stack, where concurrencykit's callers keep theirs too.
template <fairlock::EpisodicLock L>
struct Guarded {
  using Context = Nothing;
  L lock{};

  explicit Guarded(Size) {}

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

  explicit Lockable(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    mutex.lock();
    body();
    mutex.unlock();
  }
};

// A semaphore, with one permit used as a mutex: fairlock's, and std::counting_semaphore.
template <class S>
struct Permits {
  using Context = Nothing;
  S semaphore;

  explicit Permits(Size size) : semaphore(static_cast<std::ptrdiff_t>(size.permits)) {}

  template <class F>
  void episode(Context&, F&& body) {
    semaphore.acquire();
    body();
    semaphore.release();
  }
};

// A bare semaphore around a lock: what a capacitor has to be better than.
template <class S, fairlock::EpisodicLock L>
struct Around {
  using Context = Nothing;
  S semaphore{};
  L lock{};

  explicit Around(Size) {}

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

// Admits every thread at once. It is measured as `broken`, which the check for two threads inside must catch, and as
// `nolock`, whose threads share no data.
struct NoLock {
  using Context = Nothing;

  explicit NoLock(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    body();
  }
};

}  // namespace bench
