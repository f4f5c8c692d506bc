// SPDX-License-Identifier: Apache-2.0
// The time of one episode without contention. It is the median over short batches, so batches in which the
// thread lost its processor do not matter.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/clocks.hpp"
#include "harness/sections.hpp"
#include "harness/statistics.hpp"

namespace bench {

class BatchTimer {
 public:
  static constexpr std::uint64_t episodes = 1000;  // in a batch

  // Run the batch. Its time counts only if the window was open when it began.
  template <class F>
  void time(const Window& window, F&& batch) {
    const Ticks from = ticks();
    batch();
    const Ticks duration = ticks() - from;
    if (from < window.opens.load(std::memory_order_relaxed)) return;
    if (times_.size() < capacity) times_.push_back(static_cast<double>(duration));
    else times_[next_++ % capacity] = static_cast<double>(duration);
  }

  // The median time of an episode.
  double nanoseconds() const {
    return times_.empty() ? 0 : median(times_) / static_cast<double>(episodes) * 1e9 / ticks_per_second();
  }

 private:
  static constexpr std::size_t capacity = 1u << 20;  // batches; further ones replace the oldest

  std::vector<double> times_;
  std::size_t next_ = 0;
};

}  // namespace bench
