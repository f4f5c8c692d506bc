// SPDX-License-Identifier: Apache-2.0
// Stepping aside: offering the processor to others between two looks, before one falls asleep.
//
// Where threads outnumber processors, a line that sleeps hands its lock on as fast as a processor can be woken: with
// the last thread the processor has gone to sleep too. A few waiters who step aside keep it awake, and are admitted
// without being woken. Only a few: more are in each other's way. And only while it is cheap: beside a thread that just
// computes, whoever steps aside is gone for all of that thread's time slice, and so long the whole line stands still.
// So the time is taken. After a step that was dear the process does without for a while, and if the next one is dear as
// well, for twice as long each time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include <fairlock/platform/parking.hpp>

namespace fairlock {
inline namespace v0 {

// What the threads of a process know of each other's steps; one for all, like the domain. Times are in nanoseconds.
// They only advise: what two who write at once say may be mixed up.
struct Steps {
  static constexpr unsigned most = 4;  // who step aside at a time
  // Dear is what takes longer than a round of a hundred like us, and less than the shortest time slice.
  static constexpr std::uint64_t dear = 500'000, longest = 2'000'000'000;

  std::atomic<std::uint64_t> taken_until[most];  // then it lapses: threads end, and the child of a fork has only one
  std::atomic<std::uint64_t> dear_until;
  std::atomic<std::uint64_t> dear_for;

  // A step took from `before` to `after`; whether that was dear. If so, all do without for a while.
  bool took(std::uint64_t before, std::uint64_t after) {
    if (after - before < dear) return false;
    const auto until = dear_until.load(std::memory_order_relaxed);
    const auto duration = dear_for.load(std::memory_order_relaxed);
    if (before + duration < until) return true;  // others have felt the same, and said so
    const auto next = std::min(longest, before < until + duration ? 2 * duration : 32 * (after - before));
    dear_for.store(next, std::memory_order_relaxed);
    dear_until.store(after + next, std::memory_order_relaxed);
    return true;
  }
};
[[gnu::visibility("default")]] inline constinit Steps process_steps{};

class Aside {
 public:
  Aside() = default;
  ~Aside() {
    // Unless it lapsed, and is another's.
    if (place_ != nullptr) place_->compare_exchange_strong(lapses_, 0, std::memory_order_relaxed);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // False: not now, or not again. Nor in the last moments before a deadline, which would pass meanwhile.
  bool step(std::uint64_t deadline) {
    const auto before = steady_now();
    if (before < process_steps.dear_until.load(std::memory_order_relaxed) || deadline < before + Steps::dear)
      return false;
    if (place_ == nullptr ? !take_place(before) : before >= lapses_) return false;
    std::this_thread::yield();
    return !process_steps.took(before, steady_now());
  }

 private:
  static constexpr std::uint64_t lapse = 10'000'000;

  bool take_place(std::uint64_t now) {
    lapses_ = now + lapse;
    for (auto& place : process_steps.taken_until) {
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
