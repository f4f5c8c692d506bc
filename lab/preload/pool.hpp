// SPDX-License-Identifier: Apache-2.0
// Memory for locks whose elements outlive a call. The elements cannot come from malloc, because its own locks may be
// preloaded.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <new>

#include <fairlock/platform/native.hpp>

namespace fairlock::preload {

// A pool of pieces of one size. It never gives memory back to the system.
class Pool {
 public:
  template <class T>
  static T* create() {
    static_assert(sizeof(T) <= size && alignof(T) <= size);
    enter();
    void* piece = spare_;
    if (piece != nullptr) {
      spare_ = *static_cast<void**>(piece);
    } else {
      if (fresh_ == end_) refill();
      piece = fresh_;
      fresh_ += size;
    }
    leave();
    return new (piece) T();
  }

  static void destroy(void* piece) {
    enter();
    *static_cast<void**>(piece) = spare_;
    spare_ = piece;
    leave();
  }

  // In the child of a fork, a thread that was inside the pool is gone. The piece that it was taking or returning is
  // lost.
  static void after_fork() { leave(); }

 private:
  static constexpr std::size_t size = 128, chunk = 1 << 16;

  static void enter() {
    while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  static void leave() { busy_.store(false, std::memory_order_release); }

  static void refill() {
    void* const more = mmap(nullptr, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) NativeDomain<DomainOptions{}>::stop("preload", "no memory for the elements of a lock");
    fresh_ = static_cast<char*>(more);
    end_ = fresh_ + chunk;
  }

  static inline constinit std::atomic<bool> busy_{false};
  static inline constinit void* spare_ = nullptr;
  static inline constinit char *fresh_ = nullptr, *end_ = nullptr;
};

// The elements that a thread frees when it ends.
class ThreadExitList {
 public:
  static void free_at_exit(void (*free)(void*), void* spare) {
    if (over_ || count_ == most || !call_at_exit()) return free(spare);
    records_[count_++] = {free, spare};
  }

 private:
  struct Record {
    void (*free)(void*);
    void* spare;
  };
  static constexpr unsigned most = 4;

  // False: the program has used up all pthread keys.
  static bool call_at_exit() {
    auto key = key_.load(std::memory_order_acquire);
    if (key == 0) {
      pthread_key_t fresh;
      if (pthread_key_create(&fresh, [](void*) { free_all(); }) != 0) return false;
      if (key_.compare_exchange_strong(key, fresh + 1)) key = fresh + 1;
      else pthread_key_delete(fresh);
    }
    return pthread_setspecific(key - 1, records_) == 0;
  }

  static void free_all() {
    over_ = true;
    while (count_ != 0) {
      const auto [free, spare] = records_[--count_];
      free(spare);
    }
  }

  static inline constinit thread_local Record records_[most] = {};
  static inline constinit thread_local unsigned count_ = 0;
  static inline constinit thread_local bool over_ = false;     // the thread is ending: keep nothing
  static inline constinit std::atomic<pthread_key_t> key_{0};  // plus one
};

// A platform whose locks may allocate.
template <class Base>
struct Pooled : Base {
  template <class T>
  static T* create() {
    return Pool::create<T>();
  }
  template <class T>
  static void destroy(T* object) {
    object->~T();
    Pool::destroy(object);
  }
  static void free_at_exit(void (*free)(void*), void* object) { ThreadExitList::free_at_exit(free, object); }
  static void after_fork() { Pool::after_fork(); }
};

}  // namespace fairlock::preload
