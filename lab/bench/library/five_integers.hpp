// SPDX-License-Identifier: Apache-2.0
// What the family `atomic-exchange` exchanges: five integers. They are too large for the processor's atomic
// instructions, so libatomic acquires a mutex, which it chooses by the object's address.
#pragma once

#include <atomic>
#include <cstdint>

#include "harness/placement.hpp"

namespace bench {

struct FiveIntegers {
  std::int32_t values[5];

  // Five copies of one number. They can differ only if two exchanges overlapped.
  explicit FiveIntegers(std::int32_t number = 0) : values{number, number, number, number, number} {}
  bool intact() const {
    for (const auto value : values)
      if (value != values[0]) return false;
    return true;
  }
};

// Alone in its sector, so that one mutex of libatomic covers all of it.
struct alignas(sector) SharedFiveIntegers {
  std::atomic<FiveIntegers> value;
};

}  // namespace bench
