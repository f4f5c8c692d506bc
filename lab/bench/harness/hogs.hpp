// SPDX-License-Identifier: Apache-2.0
// Processes that do nothing but burn CPU, as long as this object lives. The kernel kills them when the benchmark ends,
// even if a signal ends it.
#pragma once

#include <sys/types.h>

#include <vector>

namespace bench {

class Hogs {
 public:
  // Only the main thread may start hogs, because they die with the thread that started them.
  explicit Hogs(unsigned number);
  ~Hogs();
  Hogs(const Hogs&) = delete;
  Hogs& operator=(const Hogs&) = delete;

  double cpu_seconds() const;  // of all hogs so far

 private:
  void end();

  std::vector<pid_t> children_;
};

}  // namespace bench
