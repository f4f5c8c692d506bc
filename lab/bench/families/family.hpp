// SPDX-License-Identifier: Apache-2.0
// The families of workloads. A process takes one sample: it runs one family once and prints one JSON object.
//
// To add a family, define a Family in a new file here, declare it below, and add it to families.cpp. Its run function
// asks `arguments` for its options, calls arguments.finish(), takes the sample, and writes the metrics into `json`,
// whose object is already open.
#pragma once

#include <vector>

#include "harness/arguments.hpp"
#include "harness/json.hpp"

namespace bench {

struct Family {
  const char* name;
  const char* summary;  // one line of --help
  void (*run)(Arguments& arguments, Json& json);
};

extern const Family contend, uncontended, overhead, fork_join, multi_lock, invalidation_diameter;
extern const Family throwing, atomic_exchange, leveldb;  // their locks are inside libraries

const std::vector<const Family*>& families();

}  // namespace bench
