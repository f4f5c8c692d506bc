// SPDX-License-Identifier: Apache-2.0
// The options that every family has.
#pragma once

#include <cstdint>

#include "harness/arguments.hpp"

namespace bench {

inline constexpr unsigned most_threads = 4096;

struct CommonOptions {
  unsigned threads;
  double seconds, warm_up;  // the length of the window, and of the time before it
  std::uint64_t seed;
  bool pin;       // pin thread i to the i-th usable CPU, and start over if there are more threads than CPUs
  unsigned hogs;  // how many processes burn CPU during the sample

  explicit CommonOptions(Arguments& arguments, unsigned default_threads = 2, unsigned max_threads = most_threads)
      : threads(static_cast<unsigned>(arguments.number("--threads", std::uint64_t{default_threads}, 1, max_threads))),
        seconds(arguments.number("--seconds", 1.0, 0.001, 3600.0)),
        warm_up(arguments.number("--warm-up", 0.1, 0.0, 600.0)),
        seed(arguments.number("--seed", std::uint64_t{1}, 0, UINT64_MAX)),
        pin(arguments.flag("--pin")),
        hogs(static_cast<unsigned>(arguments.number("--hogs", std::uint64_t{0}, 0, 64))) {}
};

}  // namespace bench
