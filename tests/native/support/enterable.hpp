// SPDX-License-Identifier: Apache-2.0
// One interface for a lock and for a semaphore with one permit: enter and leave, with or without a deadline.
#pragma once

#include <optional>

#include <fairlock/fairlock.hpp>

template <class L>
struct Entered {
  L lock{};
  std::optional<typename L::Episode> episode{};  // of the owner
  bool enter(const auto& until) { return (episode_of(lock.acquire_until(until))); }
  bool try_enter() { return episode_of(lock.try_acquire()); }
  void enter() { episode = lock.acquire(); }
  void leave() {
    const auto mine = *episode;
    lock.release(mine);
  }
  bool free() { return !lock.locked(); }

 private:
  bool episode_of(const std::optional<typename L::Episode>& got) {
    if (got) episode = got;
    return got.has_value();
  }
};

template <class S>
struct Permitted {
  S semaphore{1};
  bool enter(const auto& until) { return semaphore.acquire_until(until); }
  bool try_enter() { return semaphore.try_acquire(); }
  void enter() { semaphore.acquire(); }
  void leave() { semaphore.release(); }
  bool free() { return semaphore.value() == 1; }
};
