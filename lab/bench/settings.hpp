// SPDX-License-Identifier: Apache-2.0
// The options that every family has.
#pragma once

#include <cstdint>

#include "arguments.hpp"
#include "common.hpp"

namespace bench {

struct Settings {
  unsigned threads;
  double seconds, warm_up;  // the window, and what comes before it
  std::uint64_t seed;
  bool pin;       // thread i on usable CPU i, and again from the first when there are no more
  unsigned hogs;  // processes that burn CPU meanwhile

  explicit Settings(Arguments& arguments, unsigned usual_threads = 2, unsigned most = most_threads)
      : threads(static_cast<unsigned>(arguments.number("--threads", std::uint64_t{usual_threads}, 1, most))),
        seconds(arguments.number("--seconds", 1.0, 0.001, 3600.0)),
        warm_up(arguments.number("--warm-up", 0.1, 0.0, 600.0)),
        seed(arguments.number("--seed", std::uint64_t{1}, 0, UINT64_MAX)),
        pin(arguments.flag("--pin")),
        hogs(static_cast<unsigned>(arguments.number("--hogs", std::uint64_t{0}, 0, 64))) {}
};

}  // namespace bench
