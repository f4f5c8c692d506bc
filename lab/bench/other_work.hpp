// SPDX-License-Identifier: Apache-2.0
// How much of the processors' time others took meanwhile: locks whose waiters sleep behave quite differently on a
// machine that is not as idle as it should be, because waking a thread on an idle processor takes long.
#pragma once

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common.hpp"

namespace bench {

inline double cpu_seconds(clockid_t clock) {
  timespec spent{};
  if (clock_gettime(clock, &spent) != 0) return 0;
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

class OtherWork {
 public:
  // From now on; `ours` is the time that this process and those that it started have used so far.
  explicit OtherWork(double ours) : began_(Clock::now()), before_(busy() - ours) {}

  // The share of all processors' time since then.
  double share(double ours) const {
    const double all = Seconds(Clock::now() - began_).count() * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::clamp((busy() - ours - before_) / all, 0.0, 1.0);
  }

 private:
  // Since the machine started, idling not included.
  static double busy() {
    long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, stolen = 0;
    if (std::FILE* const stat = std::fopen("/proc/stat", "r")) {
      if (std::fscanf(stat, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user, &nice, &system, &idle, &wait, &irq,
                      &soft, &stolen) != 8)
        user = nice = system = irq = soft = stolen = 0;
      std::fclose(stat);
    }
    return static_cast<double>(user + nice + system + irq + soft + stolen) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  const Clock::time_point began_;
  const double before_;
};

}  // namespace bench
