// Stepping aside: offering the processor to others between two looks, before one falls asleep.
//
// Where threads outnumber processors, a line that sleeps hands its lock on as fast as a processor can be woken: with the last
// thread the processor has gone to sleep too. A few waiters who step aside keep it awake, and are admitted without being woken. Only
// a few: more are in each other's way. And only while it is cheap: beside a thread that just computes, whoever steps aside is
// gone for all of that thread's time slice, and so long the whole line stands still. So the time is taken. After a step that was
// dear the process does without for a while, and if the next one is dear as well, for twice as long each time.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include <fairlock/platform/parking.hpp>

namespace fairlock {
inline namespace v0 {

// What the threads of a process know of each other's steps; one for all, like the domain. Times are in nanoseconds. They only advise:
// what two who write at once say may be mixed up.
struct Steps {
  static constexpr unsigned most = 4;  // who step aside at a time
  std::atomic<std::uint64_t> taken_until[most];  // whoever ends as a fork or a thread ends need not give its place back
  std::atomic<std::uint64_t> dear_until;
  std::atomic<std::uint64_t> dear_for;
};
[[gnu::visibility("default")]] inline constinit Steps process_steps{};

class Aside {
 public:
  Aside() = default;
  ~Aside() {
    if (place_ != nullptr) place_->store(0, std::memory_order_relaxed);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // False: not now, or not again. Nor in the last moments before a deadline, which would pass meanwhile.
  bool step(std::uint64_t deadline) {
    if (place_ == nullptr && !begin()) return false;
    if (now_ < process_steps.dear_until.load(std::memory_order_relaxed) || deadline < now_ + dear) return false;
    std::this_thread::yield();
    const auto before = now_;
    now_ = steady_now();
    if (now_ - before < dear) return true;
    do_without(before);
    return false;
  }

 private:
  // Dear is what takes longer than a round of a hundred like us, and less than the shortest time slice.
  static constexpr std::uint64_t dear = 500'000, longest = 2'000'000'000, lapse = 10'000'000;

  bool begin() {
    now_ = steady_now();
    if (now_ < process_steps.dear_until.load(std::memory_order_relaxed)) return false;
    for (auto& place : process_steps.taken_until) {
      auto taken = place.load(std::memory_order_relaxed);
      if (taken > now_ || !place.compare_exchange_strong(taken, now_ + lapse, std::memory_order_relaxed)) continue;
      place_ = &place;
      return true;
    }
    return false;
  }

  void do_without(std::uint64_t before) {
    const auto until = process_steps.dear_until.load(std::memory_order_relaxed);
    const auto duration = process_steps.dear_for.load(std::memory_order_relaxed);
    if (before < until - duration) return;  // others have felt the same, and said so
    const auto next = before < until + duration ? std::min(2 * duration, longest) : 32 * (now_ - before);
    process_steps.dear_for.store(next, std::memory_order_relaxed);
    process_steps.dear_until.store(now_ + next, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t>* place_ = nullptr;
  std::uint64_t now_ = 0;
};

}  // namespace v0
}  // namespace fairlock
