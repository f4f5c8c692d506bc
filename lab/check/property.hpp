// SPDX-License-Identifier: Apache-2.0
// Property: the properties that a check can find violated.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace fairlock::check {

enum class Property : std::uint8_t {
  none,
  exclusion,  // more threads are inside than allowed
  deadlock,   // no thread can go on: a wake-up was lost, or a line never moves
  order,      // FIFO, or the bound on bypass
  race,       // happens-before does not order the accesses to what the lock protects
  destroyed,  // a thread touched a lock after the next owner destroyed it, or an element after it was freed
  unlocked,   // all threads have left, and the lock is not free, or a semaphore does not have all its permits
  torn,       // a reader accepted a record that no thread wrote
  wild,       // an access outside all memory of the scenario
  promise,    // the algorithm stopped, because it cannot keep its promise
};

const char* name_of(Property);

struct Violation {
  Property property = Property::none;
  std::string what;
};

// The checker has no room for the scenario.
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace fairlock::check
