// SPDX-License-Identifier: Apache-2.0
// Processes that do nothing but burn CPU, for as long as this object lives. They die with the benchmark, however it
// ends.
#pragma once

#include <sys/types.h>

#include <vector>

namespace bench {

class Hogs {
 public:
  explicit Hogs(unsigned number);  // only from the main thread: they die with the thread that made them
  ~Hogs();
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

  double spent() const;  // CPU time, in seconds

 private:
  void end();

  std::vector<pid_t> children_;
};

}  // namespace bench
