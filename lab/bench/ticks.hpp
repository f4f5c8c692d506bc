// SPDX-License-Identifier: Apache-2.0
// A clock that is cheap enough to read twice in every episode: the processor's counter where it has one that all
// processors share, else the system's clock.
#pragma once

#include <cstdint>
#include <thread>

#include "common.hpp"

namespace bench {

using Ticks = std::int64_t;

inline Ticks ticks() {
#if defined(__x86_64__)
  return static_cast<Ticks>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  Ticks now;
  asm volatile("mrs %0, cntvct_el0" : "=r"(now));
  return now;
#else
  return Clock::now().time_since_epoch().count();
#endif
}

inline double ticks_per_second() {
  static const double rate = [] {
    const auto from = Clock::now();
    const auto first = ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto to = Clock::now();
    return static_cast<double>(ticks() - first) / Seconds(to - from).count();
  }();
  return rate;
}

}  // namespace bench
