// SPDX-License-Identifier: Apache-2.0
// MutexBench's safety check. Threads advance one generator of random numbers in their critical sections and count their
// steps. If no two threads were ever inside together, the generator ends in the state in which a sequential replay of
// as many steps ends.
#pragma once

#include <cstdint>
#include <random>
#include <thread>

#include "check.hpp"

class Replay {
 public:
  // The owner of the lock calls it. Now and then the owner yields its processor, so that other threads wait even if
  // there is only one processor.
  void advance() {
    shared_();
    if (++steps_ % 61 == 0) std::this_thread::yield();
  }

  bool agrees(std::uint64_t tally) const {
    std::mt19937 replay;
    replay.discard(tally);
    return steps_ == tally && shared_ == replay;
  }

 private:
  std::mt19937 shared_;
  std::uint64_t steps_ = 0;
};

// A thread's own work between two episodes.
class Private {
 public:
  explicit Private(unsigned seed) : random_(seed + 1) {}
  unsigned next() { return random_() >> 8; }
  void work() {
    for (unsigned n = next() % 4; n > 0; --n) random_();
  }

 private:
  std::minstd_rand random_;
};
