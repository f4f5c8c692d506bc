// SPDX-License-Identifier: Apache-2.0
// A thread that contends for a lock: what the measuring loop (locks/measuring_loop.hpp) reads and writes, and what the
// thread does in and between its critical sections. These are ordinary functions, the same for every lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "harness/histogram.hpp"
#include "harness/sections.hpp"

namespace bench {

class MeasuringLoop;

struct Contender {
  Contender(unsigned number, const Sections& sections, std::uint64_t seed, ProtectedData& data, bool witnessed,
            const Window& window, const std::atomic<bool>& over, std::atomic<std::uint64_t>& tally)
      : number(number),
        plain(sections.plain()),
        over(over),
        tally(tally),
        witness(witnessed ? &data.witness.value : nullptr),
        sections_(sections),
        data_(data),
        window_(window),
        generator_(sections.generator, seed) {}
  Contender(const Contender&) = delete;

  // For the measuring loop.
  const unsigned number;
  bool plain;                                                       // the four functions below have nothing to do
  std::uint64_t quota = std::numeric_limits<std::uint64_t>::max();  // the loop returns after this many episodes,
  const std::atomic<bool>& over;                                    // or as soon as this is true
  std::atomic<std::uint64_t>& tally;                                // episodes so far. The crew reads it
  std::uint64_t* const witness;                                     // null: exclusion is not checked in this way

  void before_acquire() noexcept;
  void after_acquire() noexcept;
  void before_release() noexcept;
  void after_release() noexcept;

  // The loop of a lock to acquire and release within the critical section, if any, and the contender that does so.
  MeasuringLoop* nested = nullptr;
  Contender* nested_contender = nullptr;

  // What was recorded in the window.
  Ticks longest_wait = 0;
  Histogram waits, handovers;
  std::uint64_t migrations = 0, recorded = 0;  // `recorded` counts episodes

 private:
  bool recording() const noexcept {
    return sections_.records() &&
           (!sections_.second_window || window_.opens.load(std::memory_order_relaxed) != Window::unknown);
  }
  void record();

  const Sections sections_;
  ProtectedData& data_;
  const Window& window_;
  Generator generator_;
  Ticks arrived_ = 0, entered_ = 0;
  bool migrated_ = false;  // the previous owner was another thread
  Ticks handover_ = 0;     // the time from that owner's release to this entry
};

}  // namespace bench
