// SPDX-License-Identifier: Apache-2.0
// Generations: every object of ours is stamped with the generation of the process that used it last. In the child of a
// fork whoever stood in a line is gone, so what has an older stamp is made anew before it is used: its line is empty,
// and a mutex is held if, and only if, the thread that forked held it.
//
//   field      holds                                                                      written by
//   alive      the generation; 0 in a new process; `busy` while that sets itself up       whoever is first in a process
//   last_      the generation of this process or, before it has one, of its parent        the same
//   forker_    the owner_number() of the thread that forked, or 0                         the same
//   a stamp    0: never used; a generation; with `busy` while its object is made anew     whoever uses the object first
//
// alive is on a page that the kernel clears for a child. So the child finds out by itself, whatever made it (fork,
// _Fork, clone), and before the handlers of others, which unlock what they locked before the fork. Where the kernel
// cannot do that, a handler of ours clears it: it is registered early, but not before that of every other library.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "platform.hpp"

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

  // Gives an object the stamp of this process. What another process left behind is made anew by renew(), by one thread
  // alone; what is all zero need not. False: it has the stamp of a descendant, and so is in memory that both share.
  // Nothing promises that it works there; but what is not ours is not made anew.
  template <class S, class F>
  static bool check(S& stamp, const F& renew) {
    const Stamp current = now();
    if (stamp.load(std::memory_order_acquire) == current) [[likely]]
      return true;
    return update(stamp, current, renew);
  }

  static std::uint32_t forker() { return forker_; }

  static void at_load() {
    now();
    pthread_atfork(nullptr, nullptr, [] {
      if (!wiped_) page_.alive.store(none, std::memory_order_relaxed);
      now();  // here, where we are alone, and surely the thread that forked
    });
  }

 private:
  static constexpr Stamp none = 0, busy = 0x8000;

  [[gnu::noinline]] static Stamp begin() {
    Stamp found = none;
    if (!page_.alive.compare_exchange_strong(found, busy, std::memory_order_acquire)) {
      while ((found = page_.alive.load(std::memory_order_acquire)) == busy) sched_yield();
      return found;
    }
    if (last_ == none) {
      const int before = errno;
      wiped_ = sysconf(_SC_PAGESIZE) <= static_cast<long>(sizeof(Page)) &&
               madvise(&page_, sizeof(Page), MADV_WIPEONFORK) == 0;
      errno = before;
    } else {
      after_fork_in_child<P>();
      Pool::after_fork();
      forker_ = P::owner_number();
    }
    last_ = last_ + 1 == busy ? 1 : last_ + 1;
    page_.alive.store(last_, std::memory_order_release);
    return last_;
  }

  // Somebody may have been busy with it when another thread forked: so `busy` of another generation is as good as none.
  template <class S, class F>
  [[gnu::noinline]] static bool update(S& stamp, Stamp current, const F& renew) {
    for (Stamp found; (found = stamp.load(std::memory_order_acquire)) != current;) {
      if (found == (current | busy)) {
        sched_yield();
      } else if (found == none) {
        stamp.compare_exchange_strong(found, current, std::memory_order_relaxed);
      } else if (later(found, current)) {
        return false;
      } else if (stamp.compare_exchange_strong(found, current | busy, std::memory_order_acquire)) {
        renew();
        stamp.store(current, std::memory_order_release);
      }
    }
    return true;
  }

  static bool later(Stamp found, Stamp current) {
    const int ahead = (found - current) & (busy - 1);
    return ahead != 0 && ahead < busy / 2;
  }

  struct alignas(4096) Page {
    std::atomic<Stamp> alive;
  };

  static inline constinit Page page_{};
  static inline constinit Stamp last_ = none;
  static inline constinit std::uint32_t forker_ = 0;
  static inline constinit bool wiped_ = false;
};

}  // namespace fairlock::preload
