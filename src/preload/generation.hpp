// SPDX-License-Identifier: Apache-2.0
// Generations: each of our objects bears the stamp of the last process that used it. In the child of a fork, the
// threads that stood in a line are gone, so an object with an older stamp is renewed before its next use: its line
// becomes empty, and a mutex is held if and only if the forking thread held it.
//
//   field      holds                                                                   written by
//   alive      the generation; 0 in a new process; `busy` while the process sets up    the first thread of a process
//   last_      the generation of this process or, until it has one, of its parent      the same
//   forker_    the owner_number() of the thread that forked, or 0                      the same
//   oldest_    since this generation no thread has vanished in a fork                  the same
//   alone_     the process is forking, and has only one thread                         handlers before and after a fork
//   a stamp    0: never used; a generation; with `busy` while the object is renewed    the first thread to use it
//
// A process with one thread loses none in a fork. But a signal handler may have forked while this thread waited for a
// semaphore, and the thread then continues to wait. So in the child, the domain and semaphores stay as they are.
//
// The kernel clears the page of `alive` for a child. So the child notices the fork, whichever call made it (fork,
// _Fork, clone), and before other libraries' atfork handlers unlock what they locked before the fork. If the kernel
// cannot clear a page, our own atfork handler does. It is registered early, but not before the handlers of every other
// library.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "platform.hpp"

extern "C" {
[[gnu::weak]] extern char __libc_single_threaded;  // since glibc 2.32; an older one renews after every fork
}

namespace fairlock::preload {

template <Platform P>
class Generations {
 public:
  using Stamp = std::uint16_t;

  static Stamp now() {
    const auto alive = page_.alive.load(std::memory_order_acquire);
    if (alive != none && alive != busy) [[likely]]
      return alive;
    return begin();
  }

  template <class S>
  static bool is_current(const S& stamp) {
    return stamp.load(std::memory_order_acquire) == now();
  }

  // Gives an object the stamp of this process. If another process has left the object behind, one thread alone calls
  // renew(its former stamp); an object that is all zero needs no renewal. False: the object has the stamp of a
  // descendant, so it is in memory that both processes share. We promise nothing for such an object, except that we do
  // not renew it.
  template <class S, class F>
  static bool check(S& stamp, const F& renew) {
    const Stamp current = now();
    if (stamp.load(std::memory_order_acquire) == current) [[likely]]
      return true;
    return update(stamp, current, renew);
  }

  static std::uint32_t forker() { return forker_; }

  // Whether all threads that used an object with this stamp are still there.
  static bool complete(Stamp then) { return !later(oldest_, then); }

  static void at_load() {
    now();
    const auto before = [] { alone_ = &__libc_single_threaded != nullptr && __libc_single_threaded != 0; };
    const auto in_parent = [] { alone_ = false; };
    const auto in_child = [] {
      if (!wiped_) page_.alive.store(none, std::memory_order_relaxed);
      now();  // begin here, because the only thread is surely the one that forked
      alone_ = false;
    };
    pthread_atfork(before, in_parent, in_child);
  }

 private:
  static constexpr Stamp none = 0, busy = 0x8000;

  [[gnu::noinline]] static Stamp begin() {
    Stamp alive = none;
    if (!page_.alive.compare_exchange_strong(alive, busy, std::memory_order_acquire)) {
      while ((alive = page_.alive.load(std::memory_order_acquire)) == busy) sched_yield();
      return alive;
    }
    const Stamp next = last_ + 1 == busy ? 1 : last_ + 1;
    if (last_ == none) {
      const int saved_errno = errno;
      wiped_ = sysconf(_SC_PAGESIZE) <= static_cast<long>(sizeof(Page)) &&
               madvise(&page_, sizeof(Page), MADV_WIPEONFORK) == 0;
      errno = saved_errno;
      oldest_ = next;
    } else {
      forker_ = P::owner_number();
      if (!alone_) {
        after_fork_in_child<P>();
        P::after_fork();
        oldest_ = next;
      }
    }
    last_ = next;
    page_.alive.store(last_, std::memory_order_release);
    return last_;
  }

  // A thread may have been renewing the object when another thread forked, so a `busy` stamp of another generation
  // means nothing.
  template <class S, class F>
  [[gnu::noinline]] static bool update(S& stamp, Stamp current, const F& renew) {
    for (Stamp seen; (seen = stamp.load(std::memory_order_acquire)) != current;) {
      if (seen == (current | busy)) {
        sched_yield();
      } else if (seen == none) {
        stamp.compare_exchange_strong(seen, current, std::memory_order_relaxed);
      } else if (later(seen, current)) {
        return false;
      } else if (stamp.compare_exchange_strong(seen, current | busy, std::memory_order_acquire)) {
        renew(seen);
        stamp.store(current, std::memory_order_release);
      }
    }
    return true;
  }

  static bool later(Stamp seen, Stamp current) {
    const int ahead = (seen - current) & (busy - 1);
    return ahead != 0 && ahead < busy / 2;
  }

  struct alignas(4096) Page {
    std::atomic<Stamp> alive;
  };

  static inline constinit Page page_{};
  static inline constinit Stamp last_ = none;
  static inline constinit Stamp oldest_ = none;
  static inline constinit std::uint32_t forker_ = 0;
  static inline constinit bool wiped_ = false, alone_ = false;
};

}  // namespace fairlock::preload
