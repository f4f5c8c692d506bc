// SPDX-License-Identifier: Apache-2.0
// The families of workloads. One process measures one sample: it runs one family once and prints one JSON object.
//
// A new family is a file with a Family in it, and a line in families.cpp. Its run function asks `arguments` for its
// options, calls finish(), and only then measures; whatever it finds it writes into `json`, whose object is open.
#pragma once

#include <vector>

#include "arguments.hpp"
#include "json.hpp"

namespace bench {

struct Family {
  const char* name;
  const char* about;  // one line
  void (*run)(Arguments& arguments, Json& json);
};

extern const Family contend, uncontended, overhead, fork_join, multi_lock, invalidation_diameter;
extern const Family throwing, atomic_exchange, leveldb;  // their locks are inside libraries

const std::vector<const Family*>& families();

}  // namespace bench
