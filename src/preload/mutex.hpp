// SPDX-License-Identifier: Apache-2.0
// A mutex inside glibc's.
//
//   at   field       holds                                                       written by
//    0   lock        the lock of the catalogue                                   its algorithm
//   16   kind        glibc's: its low two bits are the type                      init; destroy (-1)
//   20   owner       the owner_number() of the owner, or 0                       the owner
//   24   episode     the owner's episode, or its address                         the owner
//   32   count       how often a recursive one is locked                         the owner
//   36   stamp       the generation of the last process that used it             generation.hpp
//   38   waiters     threads that wait on a condition and will lock it again     the owner
//
// All zero is an unlocked mutex of the normal type, so the static initialisers and std::mutex need no init. A mutex
// with another bit of `kind` set belongs to glibc and has glibc's layout (`ours`). In shared memory, init or the first
// use sets the process-shared bit.
//
// A lock whose waiters cannot leave has a door instead: a thread with a deadline waits outside the line, and tries
// after each release. Such locks are for the lab, because the door has no order.
#pragma once

#include <errno.h>
#include <pthread.h>

#include <cstddef>
#include <cstring>

#include <fairlock/detail/element.hpp>
#include <fairlock/episode.hpp>
#include <fairlock/waiting/chain.hpp>

#include "generation.hpp"
#include "glibc.hpp"
#include "shared_memory.hpp"

namespace fairlock::preload {

// An episode in eight bytes: the episode, or its address.
template <Platform P, class Episode>
class EpisodeRoom {
 public:
  void put(const Episode& episode) {
    if constexpr (std::is_empty_v<Episode>) return;
    else if constexpr (direct) std::memcpy(&word_, &episode, sizeof episode);
    else {
      auto* const record = PerEpisode<P, Record>::take();
      record->episode = episode;
      word_ = reinterpret_cast<std::uintptr_t>(record);
    }
  }

  Episode take() {
    Episode episode{};
    if constexpr (std::is_empty_v<Episode>) return episode;
    else if constexpr (direct) std::memcpy(&episode, &word_, sizeof episode);
    else {
      auto* const record = reinterpret_cast<Record*>(word_);
      episode = record->episode;
      PerEpisode<P, Record>::give(record);
    }
    return episode;
  }

 private:
  static constexpr bool direct = sizeof(Episode) <= sizeof(std::uint64_t);
  struct Record : Spare<P, Record> {
    Episode episode;
  };

  std::uint64_t word_;
};

template <Platform P, TryLock L>
class Mutex {
  using Generation = Generations<P>;

 public:
  static constexpr bool fits() {
    return sizeof(Room) == 16 && offsetof(Mutex, kind_) == offsetof(pthread_mutex_t, __data.__kind) &&
           sizeof(Mutex) <= sizeof(pthread_mutex_t);
  }

  static bool ours(const pthread_mutex_t* mutex) { return (mutex->__data.__kind & not_ours) == 0; }
  static Mutex& of(pthread_mutex_t* mutex) { return *reinterpret_cast<Mutex*>(mutex); }

  // The attributes must be those of a kind that is ours.
  static void init(pthread_mutex_t* mutex, int type, bool explicitly) {
    std::memset(mutex, 0, sizeof *mutex);
    mutex->__data.__kind = type | (explicitly && type == PTHREAD_MUTEX_NORMAL ? explicit_normal : 0);
    if (SharedMemory::holds(mutex)) mutex->__data.__kind |= process_shared;
  }

  int destroy() {
    if (!prepare()) return glibc::pthread_mutex_destroy(original());
    if (room_.lock.locked() || waiters_ != 0) return EBUSY;
    destroy_lock();
    kind_ = -1;  // as glibc does, whose functions report a later use
    return 0;
  }

  [[gnu::always_inline]] int lock() {
    if (!prepare()) [[unlikely]]
      return glibc::pthread_mutex_lock(original());
    if (const auto again = relock(EDEADLK)) return *again;
    if (asynchronous) [[unlikely]]
      return enter_by({});
    enter(room_.lock.acquire());
    return 0;
  }

  int trylock() {
    if (!prepare()) [[unlikely]]
      return glibc::pthread_mutex_trylock(original());
    if (const auto again = relock(EBUSY)) return *again;
    return try_enter() ? 0 : EBUSY;
  }

  int lock_until(clockid_t clock, const timespec* at) {
    if (!known(clock)) return EINVAL;
    if (!prepare()) [[unlikely]]
      return glibc::pthread_mutex_clocklock(original(), clock, at);
    if (const auto again = relock(EDEADLK)) return *again;
    if (try_enter()) return 0;
    if (!valid(*at)) return EINVAL;
    return enter_by({.clock = clock, .at = at});
  }

  [[gnu::always_inline]] int unlock(bool will_come_back = false) {
    if (!prepare()) [[unlikely]]
      return glibc::pthread_mutex_unlock(original());
    if (knows_owner()) [[unlikely]] {
      if (owner_.load(order::relaxed) != P::owner_number()) return EPERM;
      if (type() == PTHREAD_MUTEX_RECURSIVE && --count_ != 0) return 0;
    } else if (owner_.load(order::relaxed) == 0) {
      return 0;  // the mutex is unlocked: glibc reports no error, and the line must not move
    }
    if (will_come_back) ++waiters_;
    owner_.store(0, order::relaxed);
    release(room_.lock, episode_.take());
    return 0;
  }

  // For a thread that has waited on a condition.
  int lock_again() {
    const int failed = lock();
    if (failed == 0 && waiters_ != 0) --waiters_;  // 0 in the child of a fork, which forgets all waiters
    return failed;
  }

 private:
  static constexpr int not_ours = 0xF0, process_shared = 128, explicit_normal = 512;

  int type() const { return kind_ & 3; }
  bool knows_owner() const { return type() == PTHREAD_MUTEX_RECURSIVE || type() == PTHREAD_MUTEX_ERRORCHECK; }

  pthread_mutex_t* original() { return reinterpret_cast<pthread_mutex_t*>(this); }

  // Prepares the mutex for use by this process. False: the mutex belongs to glibc from now on.
  bool prepare() {
    if (Generation::is_current(stamp_)) [[likely]]
      return true;
    return prepare_slowly();
  }

  [[gnu::noinline]] bool prepare_slowly() {
    std::uint16_t unused = 0;
    // The exchange changes nothing, but writes to the page: an unwritten page of a private file mapping looks shared.
    if (SharedMemory::any() && stamp_.compare_exchange_strong(unused, 0, std::memory_order_relaxed) &&
        SharedMemory::holds(this)) {
      __atomic_fetch_or(&kind_, process_shared, __ATOMIC_RELAXED);
      return false;
    }
    Generation::check(stamp_, [this](auto) { renew(); });
    return true;
  }

  // Makes a mutex new that another process has left behind.
  [[gnu::noinline]] void renew() {
    const bool held = owner_.load(order::relaxed) != 0 && owner_.load(order::relaxed) == Generation::forker();
    std::memset(static_cast<void*>(&room_), 0, sizeof room_);
    waiters_ = 0;
    if (held) {
      episode_.put(*room_.lock.try_acquire());
    } else {
      owner_.store(0, order::relaxed);
      count_ = 0;
    }
  }

  // The result for a thread that holds the mutex already; nothing for any other thread.
  std::optional<int> relock(int forbidden) {
    if (!knows_owner()) [[likely]]
      return std::nullopt;
    if (owner_.load(order::relaxed) != P::owner_number()) return std::nullopt;
    if (type() == PTHREAD_MUTEX_ERRORCHECK) return forbidden;
    if (count_ == ~0u) return EAGAIN;
    ++count_;
    return 0;
  }

  void enter(const typename L::Episode& episode) {
    episode_.put(episode);
    owner_.store(P::owner_number(), order::relaxed);
    if (type() == PTHREAD_MUTEX_RECURSIVE) count_ = 1;
  }

  bool try_enter() {
    const auto episode = room_.lock.try_acquire();
    if (episode) enter(*episode);
    return episode.has_value();
  }

  bool enter_until(const Wait& until) {
    if constexpr (TimedLock<L>) {
      const auto episode = room_.lock.acquire_until(until);
      if (episode) enter(*episode);
      return episode.has_value();
    } else {
      while (!try_enter())
        if (!Chains<P>::wait_until(this, P::key(this), [this] { return !room_.lock.locked(); }, until)) return false;
      return true;
    }
  }

  // A thread with asynchronous cancellation must not be cancelled here, says POSIX. With glibc, a waiter that is
  // cancelled all the same just vanishes. Here it leaves the line first.
  [[gnu::noinline]] int enter_by(Wait::How how) {
    how.cancellable = asynchronous;
    how.sleeps = P::sleeps;
    const Wait until(how);
    const bool entered = enter_until(until);
    if (entered && until.was_cancelled()) unlock();
    until.end_if_cancelled();
    return entered ? 0 : ETIMEDOUT;
  }

  static void release(L& lock, const typename L::Episode& episode) {
    [[maybe_unused]] const auto door = P::key(&lock);
    lock.release(episode);
    if constexpr (!TimedLock<L>) {  // the mutex may be gone
      P::fence(order::seq_cst);
      Chains<P>::signal(door);
    }
  }

  void destroy_lock() {
    if constexpr (!std::is_trivially_destructible_v<L>) room_.lock.~L();
  }

  union Room {
    L lock;
    std::byte bytes[16];
    ~Room() = delete;
  };

  Room room_;
  int kind_;
  typename P::template atomic<std::uint32_t> owner_;
  EpisodeRoom<P, typename L::Episode> episode_;
  std::uint32_t count_;
  std::atomic<std::uint16_t> stamp_;
  std::uint16_t waiters_;
};

}  // namespace fairlock::preload
