// SPDX-License-Identifier: Apache-2.0
// SpinHistory: whether spinning has ended a thread's recent waits for a lock, and so whether the thread should spin
// before its next sleep.
//
// A spin that fails costs its time and ends in a sleep after all. So after a few failures, a thread skips more and more
// spins before it tries again. It does not shorten its spins instead: a wait that ends just after a shorter spin would
// count as a failure, and the thread would never learn that the lock is worth spinning for.
#pragma once

#include <cstdint>

namespace fairlock {
inline namespace v0 {

class SpinHistory {
 public:
  bool worth_trying() {
    if (skipped_ >= to_skip()) return true;
    ++skipped_;
    return false;
  }
  void succeeded() { failures_ /= 2, skipped_ = 0; }
  void failed() { failures_ += failures_ < most, skipped_ = 0; }

 private:
  static constexpr std::uint8_t tolerated = 2, most = tolerated + 7;  // skips at most 127 waits

  unsigned to_skip() const { return failures_ > tolerated ? (1u << (failures_ - tolerated)) - 1 : 0; }

  std::uint8_t failures_ = 0, skipped_ = 0;
};

// The histories of a thread, one for each lock that it waits for. Locks whose addresses collide share a history.
class SpinHistories {
 public:
  SpinHistory& of(const void* lock) {
    const auto address = reinterpret_cast<std::uintptr_t>(lock);
    return histories_[(address >> 4 ^ address >> 9) % size];
  }

 private:
  static constexpr unsigned size = 16;
  SpinHistory histories_[size];
};

}  // namespace v0
}  // namespace fairlock
