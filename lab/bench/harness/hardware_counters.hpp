// SPDX-License-Identifier: Apache-2.0
// The processor's counters of cycles, instructions and cache misses, for threads that start after the counters. Many
// machines, above all virtual ones, have no such counters. Then the output says so, with the reason.
#pragma once

#include <array>
#include <string>

#include "harness/json.hpp"

namespace bench {

class HardwareCounters {
 public:
  HardwareCounters();  // threads that start later inherit them
  ~HardwareCounters();
  HardwareCounters(const HardwareCounters&) = delete;
  HardwareCounters& operator=(const HardwareCounters&) = delete;

  void start() { enable(true); }
  void stop() { enable(false); }
  void write(Json& json, double episodes) const;

 private:
  static constexpr std::size_t number = 3;
  void enable(bool on);

  std::array<int, number> files_;
  std::string unavailable_;
};

}  // namespace bench
