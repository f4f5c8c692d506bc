// SPDX-License-Identifier: Apache-2.0
// The platform of the preloaded locks: the native one, but errno stays as it is, a sleep may be a cancellation point,
// and nothing is taken from malloc: its own locks may be ours.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <new>

#include <fairlock/platform/fork.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/statistics.hpp>

#include "wait.hpp"

namespace fairlock::preload {

struct QuietFutex {
  static constexpr const char* name = "futex";
  static bool park(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t deadline) {
    return Wait({}).sleep(word, value, deadline);
  }
  static void unpark(const void* word) {
    const int before = errno;  // the address may be nobody's any more, which the kernel minds
    FutexParking::unpark(word);
    errno = before;
  }
};

// Memory for what some locks of the lab allocate: elements that outlive a thread. It is never given back to the system.
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

  // In the child of a fork: whoever was at the pool is gone. What it had in hand is lost.
  static void after_fork() { leave(); }

 private:
  static constexpr std::size_t size = 128, chunk = 1 << 16;

  static void enter() {
    while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  static void leave() { busy_.store(false, std::memory_order_release); }

  static void refill() {
    void* const more = mmap(nullptr, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) NativeMemory<DomainOptions{}>::stop("preload", "no memory for the elements of a lock");
    fresh_ = static_cast<char*>(more);
    end_ = fresh_ + chunk;
  }

  static inline constinit std::atomic<bool> busy_{false};
  static inline constinit void* spare_ = nullptr;
  static inline constinit char *fresh_ = nullptr, *end_ = nullptr;
};

// What a thread must free when it ends.
class Keeper {
 public:
  static void keep(void (*free)(void*), void* spare) {
    if (over_ || count_ == most || !tell_at_exit()) return free(spare);
    kept_[count_++] = {free, spare};
  }

 private:
  struct Kept {
    void (*free)(void*);
    void* spare;
  };
  static constexpr unsigned most = 4;

  // False: the program has no key left for it.
  static bool tell_at_exit() {
    auto key = key_.load(std::memory_order_acquire);
    if (key == 0) {
      pthread_key_t mine;
      if (pthread_key_create(&mine, [](void*) { free_all(); }) != 0) return false;
      if (key_.compare_exchange_strong(key, mine + 1)) key = mine + 1;
      else pthread_key_delete(mine);
    }
    return pthread_setspecific(key - 1, kept_) == 0;
  }

  static void free_all() {
    over_ = true;
    while (count_ != 0) {
      const auto [free, spare] = kept_[--count_];
      free(spare);
    }
  }

  static inline constinit thread_local Kept kept_[most] = {};
  static inline constinit thread_local unsigned count_ = 0;
  static inline constinit thread_local bool over_ = false;     // the thread is ending: keep nothing
  static inline constinit std::atomic<pthread_key_t> key_{0};  // plus one
};

template <class Base>
struct PosixWaiting : Base {
  template <class T>
  static T* create() {
    return Pool::create<T>();
  }
  template <class T>
  static void destroy(T* object) {
    object->~T();
    Pool::destroy(object);
  }
  static void keep(void (*free)(void*), void* spare) { Keeper::keep(free, spare); }
  static unsigned self() { return Base::max_threads; }  // a number would have to be given back: no lock here wants one

  // A number of the calling thread that fits the 32 bits that glibc's mutex has for its owner. Never 0.
  // Two threads have the same number only if 2^32 - 2 other threads took a number in between, which
  // matters only while both live.
  static std::uint32_t owner_number() {
    auto& number = Base::template local<OwnerNumber>().number;
    if (number == 0) number = static_cast<std::uint32_t>((Base::serial() - 1) % 0xFFFF'FFFF) + 1;
    return number;
  }

  template <class A, Until U>
  static bool park(const A& word, std::uint64_t value, const U& until) {
    // A wait of limited patience.
    if constexpr (requires { until.until; }) return park_until(word, value, until.until, until.deadline());
    else return park_until(word, value, until, never);
  }

 private:
  struct OwnerNumber {
    std::uint32_t number;
  };

  template <class A, Until U>
  static bool park_until(const A& word, std::uint64_t value, const U& until, std::uint64_t sooner) {
    if constexpr (std::same_as<U, Wait>)
      return !until.interrupted() &&
             until.sleep(Base::low_half(word.word()), static_cast<std::uint32_t>(value), sooner) &&
             !until.interrupted();
    else return Base::park(word, value, Deadline{sooner < until.deadline() ? sooner : until.deadline()});
  }
};

inline constexpr DomainOptions options{.threads = 1};  // fewer pages to look at after a fork

template <class W>
struct Preloaded : std::conditional_t<W::sleeps, Sleeping<CountsParks<PosixWaiting<NativeWaiting<W, options>>>>,
                                      CountsParks<PosixWaiting<NativeWaiting<W, options>>>> {};

}  // namespace fairlock::preload
