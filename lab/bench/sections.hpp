// SPDX-License-Identifier: Apache-2.0
// What threads do in and between critical sections, and what is noted meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "arguments.hpp"
#include "common.hpp"
#include "generators.hpp"
#include "ticks.hpp"

namespace bench {

struct Sections {
  Generator::Kind generator = Generator::Kind::none;
  std::uint64_t critical = 0, non_critical = 0;  // steps
  bool shared = true;                            // the critical section advances a generator that all threads share
  bool random = false;                           // the non-critical one has a random number of steps, below that
  bool timed = false, handover = false, migrations = false;  // what to note
  bool second_window = false;  // note it only after the window in which episodes are counted

  void ask(Arguments& arguments);           // for everything,
  void ask_for_work(Arguments& arguments);  // or without what to note

  // Whether the state of the shared generator tells in the end if two threads were inside.
  bool replays() const { return shared && critical != 0 && Generator::has_state(generator); }
  bool notes() const { return timed || handover || migrations; }
  // There is nothing to call in the loop.
  bool plain() const { return critical == 0 && non_critical == 0 && !notes(); }
};

// When episodes are noted: from `opens` until `closes`, both unknown at first.
struct alignas(sector) Window {
  static constexpr Ticks unknown = std::numeric_limits<Ticks>::max();
  std::atomic<Ticks> opens{unknown}, closes{unknown};
};

// What the lock protects. A run uses only some of it.
struct Protected {
  struct Handover {
    Ticks left = 0;     // when the last one inside was about to release,
    unsigned last = 0;  // and who that was, from 1; 0: nobody yet
  };

  explicit Protected(const Generator& generator) : generator(generator) {}

  Placed<Generator, place::generator> generator;
  Placed<std::uint64_t, place::witness> witness{0u};  // episodes, counted so that two at once lose one
  Placed<Handover, place::handover> handover;
};

}  // namespace bench
