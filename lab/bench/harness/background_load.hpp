// SPDX-License-Identifier: Apache-2.0
// How much of all processors' time went to other processes. Locks whose waiters sleep behave differently on a machine
// that is busier than it should be, because it takes long to wake a thread on an idle processor.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/clocks.hpp"

namespace bench {

class BackgroundLoad {
 public:
  // Begin to measure. `own` is the processor time that this process and its children have used so far.
  explicit BackgroundLoad(double own) : began_(Clock::now()), before_(busy() - own) {}

  // The share of all processors' time that other processes have used since the construction.
  double share(double own) const {
    const double all = Seconds(Clock::now() - began_).count() * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::clamp((busy() - own - before_) / all, 0.0, 1.0);
  }

 private:
  // The time that all processors together have been busy since the machine started.
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
