// SPDX-License-Identifier: Apache-2.0
// YieldTurn: how a waiter yields its processor between looks before it sleeps.
//
// If threads outnumber processors, a line of sleeping waiters hands its lock on only as fast as a processor wakes up,
// because the processor goes to sleep with its last thread. A few waiters that yield keep the processor awake, and
// enter without a wake-up. Only a few may yield at a time, because more would hinder each other.
//
// A yield must also be cheap. Beside a thread that only computes, a waiter that yields loses its processor for that
// thread's whole time slice, and the line stands still meanwhile. So each yield is timed. After an expensive yield, no
// thread of the process yields for a while. If the next yield is expensive too, that period doubles.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include <fairlock/platform/parking.hpp>

namespace fairlock {
inline namespace v0 {

// What the threads of a process know about each other's yields. There is one object for the process, like the domain.
// Times are in nanoseconds. They are only hints: two threads that write at the same time may mix theirs up.
struct YieldStatistics {
  static constexpr unsigned max_yielders = 4;  // at a time
  // Longer than a round of a hundred yielding threads, and shorter than the shortest time slice.
  static constexpr std::uint64_t expensive = 500'000;
  static constexpr std::uint64_t longest_ban = 2'000'000'000;

  // When the turn of each yielder lapses. It must lapse, because threads end, and the child of a fork has only one.
  std::atomic<std::uint64_t> taken_until[max_yielders];
  std::atomic<std::uint64_t> banned_until;
  std::atomic<std::uint64_t> ban;  // how long the last ban was

  // Record a yield from `before` to `after`. True: it was expensive, and no thread yields for a while.
  bool record(std::uint64_t before, std::uint64_t after) {
    if (after - before < expensive) return false;
    const auto until = banned_until.load(std::memory_order_relaxed);
    const auto last_ban = ban.load(std::memory_order_relaxed);
    if (before + last_ban < until) return true;  // another thread has recorded the same delay
    const auto next = std::min(longest_ban, before < until + last_ban ? 2 * last_ban : 32 * (after - before));
    ban.store(next, std::memory_order_relaxed);
    banned_until.store(after + next, std::memory_order_relaxed);
    return true;
  }
};
[[gnu::visibility("default")]] inline constinit YieldStatistics process_yields{};

class YieldTurn {
 public:
  YieldTurn() = default;
  ~YieldTurn() {
    // The compare-exchange fails if the turn has lapsed and another thread has taken the place.
    if (place_ != nullptr) place_->compare_exchange_strong(lapses_, 0, std::memory_order_relaxed);
  }
  YieldTurn(const YieldTurn&) = delete;
  YieldTurn& operator=(const YieldTurn&) = delete;

  // False: the thread must not yield now, or must not yield again. It also must not yield just before its deadline,
  // which would pass meanwhile.
  bool yield(std::uint64_t deadline) {
    const auto before = steady_now();
    if (before < process_yields.banned_until.load(std::memory_order_relaxed) ||
        deadline < before + YieldStatistics::expensive)
      return false;
    if (place_ == nullptr ? !take_place(before) : before >= lapses_) return false;
    std::this_thread::yield();
    return !process_yields.record(before, steady_now());
  }

 private:
  static constexpr std::uint64_t longest_turn = 10'000'000;

  bool take_place(std::uint64_t now) {
    lapses_ = now + longest_turn;
    for (auto& place : process_yields.taken_until) {
      auto taken = place.load(std::memory_order_relaxed);
      if (taken > now || !place.compare_exchange_strong(taken, lapses_, std::memory_order_relaxed)) continue;
      place_ = &place;
      return true;
    }
    return false;
  }

  std::atomic<std::uint64_t>* place_ = nullptr;
  std::uint64_t lapses_ = 0;
};

}  // namespace v0
}  // namespace fairlock
