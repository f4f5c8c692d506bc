// SPDX-License-Identifier: Apache-2.0
// Three clocks: elapsed time, processor time, and ticks, which are cheap enough to read twice in every episode. Ticks
// come from the processor's counter, if it has one that all processors share, or else from the system's clock.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace bench {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// The processor time that a CPU-time clock of the system shows, or 0 if it cannot be read.
inline double cpu_seconds(clockid_t clock) {
  timespec spent{};
  if (clock_gettime(clock, &spent) != 0) return 0;
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

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

// The first call measures the rate, for 50 ms.
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
