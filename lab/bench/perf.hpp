// SPDX-License-Identifier: Apache-2.0
// The processor's counters, for the threads that are started from now on: cycles, instructions, cache misses. Many
// machines, virtual ones above all, have none to give; then it says why.
#pragma once

#include <array>
#include <string>

#include "json.hpp"

namespace bench {

class Perf {
 public:
  Perf();  // before the threads are started: they inherit it
  ~Perf();
  Perf(const Perf&) = delete;
  Perf& operator=(const Perf&) = delete;

  void start() { command(true); }
  void stop() { command(false); }
  void write(Json& json, double episodes) const;

 private:
  static constexpr std::size_t number = 3;
  void command(bool start);

  std::array<int, number> files_;
  std::string unavailable_;
};

}  // namespace bench
