// SPDX-License-Identifier: Apache-2.0
// What threads do in and between critical sections, and what they record about them.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "harness/arguments.hpp"
#include "harness/clocks.hpp"
#include "harness/generators.hpp"
#include "harness/placement.hpp"

namespace bench {

struct Sections {
  Generator::Kind generator = Generator::Kind::none;
  std::uint64_t critical = 0, non_critical = 0;  // steps of a generator
  bool shared = true;   // the critical section advances a generator that all threads share, not the thread's own
  bool random = false;  // the number of steps outside is random, and below non_critical

  bool timed = false, handover = false, migrations = false;  // what to record
  bool second_window = false;                                // record it after the window in which episodes are counted

  void parse(Arguments& arguments);       // all options
  void parse_work(Arguments& arguments);  // only the options of the work, not those of what to record

  // Whether the final state of the shared generator shows if two threads were inside at once.
  bool replays() const { return shared && critical != 0 && Generator::has_state(generator); }
  bool records() const { return timed || handover || migrations; }
  // Whether the measuring loop has no work and records nothing.
  bool plain() const { return critical == 0 && non_critical == 0 && !records(); }
};

// The time during which threads record. A bound that is not known yet is infinitely late.
struct alignas(sector) Window {
  static constexpr Ticks unknown = std::numeric_limits<Ticks>::max();
  std::atomic<Ticks> opens{unknown}, closes{unknown};
};

// The data that a lock protects. Each sample uses only some of it.
struct ProtectedData {
  struct Handover {
    Ticks left = 0;     // when the last owner was about to release
    unsigned last = 0;  // the number of this owner, from 1. 0: there was no owner yet
  };

  explicit ProtectedData(const Generator& generator) : generator(generator) {}

  Placed<Generator, place::generator> generator;
  Placed<std::uint64_t, place::witness> witness{0u};  // counts episodes: two threads inside at once lose one
  Placed<Handover, place::handover> handover;
};

}  // namespace bench
