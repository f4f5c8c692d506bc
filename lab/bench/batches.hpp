// SPDX-License-Identifier: Apache-2.0
// What one episode takes, for a thread that is alone: the median of short batches, so that those in which it lost its
// processor do not matter.
#pragma once

#include <cstdint>
#include <vector>

#include "common.hpp"
#include "sections.hpp"

namespace bench {

class Batches {
 public:
  static constexpr std::uint64_t episodes = 1000;  // of a batch

  // Until the window opens it is done, but not counted.
  template <class F>
  void time(const Window& window, F&& batch) {
    const Ticks from = ticks();
    batch();
    const Ticks took = ticks() - from;
    if (from < window.opens.load(std::memory_order_relaxed)) return;
    if (times_.size() < most) times_.push_back(static_cast<double>(took));
    else times_[next_++ % most] = static_cast<double>(took);
  }

  double nanoseconds() const {
    return times_.empty() ? 0 : median(times_) / static_cast<double>(episodes) * 1e9 / ticks_per_second();
  }

 private:
  static constexpr std::size_t most = 1u << 20;  // then the newest replace the oldest

  std::vector<double> times_;
  std::size_t next_ = 0;
};

}  // namespace bench
