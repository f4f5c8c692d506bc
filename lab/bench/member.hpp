// SPDX-License-Identifier: Apache-2.0
// One thread of a crew that contends: what its loop (measured.hpp) needs, and what happens in and between its critical
// sections. These are ordinary functions, the same ones for every lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "histogram.hpp"
#include "sections.hpp"

namespace bench {

class Measured;

struct Member {
  Member(unsigned number, const Sections& sections, std::uint64_t seed, Protected& data, bool witnessed,
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
  Member(const Member&) = delete;

  // The loop's.
  const unsigned number;
  bool plain;                                                       // nothing to call
  std::uint64_t quota = std::numeric_limits<std::uint64_t>::max();  // episodes, then the loop returns
  const std::atomic<bool>& over;                                    // or as soon as this says so
  std::atomic<std::uint64_t>& tally;                                // episodes so far, for whoever measures
  std::uint64_t* const witness;                                     // none: nobody asks

  void ask() noexcept;      // before the acquire
  void enter() noexcept;    // right after it,
  void leave() noexcept;    // and right before the release
  void outside() noexcept;  // after it

  // The lock that is acquired and released within this one's critical section, and who does that.
  Measured* nested = nullptr;
  Member* nested_member = nullptr;

  // What was noted, of the window.
  Ticks longest_wait = 0;
  Histogram waits, handovers;
  std::uint64_t migrations = 0, noted = 0;

 private:
  bool noting() const noexcept {
    return sections_.notes() &&
           (!sections_.second_window || window_.opens.load(std::memory_order_relaxed) != Window::unknown);
  }
  void note();

  const Sections sections_;
  Protected& data_;
  const Window& window_;
  Generator generator_;
  Ticks asked_ = 0, entered_ = 0, taken_ = 0;  // the last: how long the lock took to come from another thread, or none
  bool came_ = false;                          // from another thread
};

}  // namespace bench
