// SPDX-License-Identifier: Apache-2.0
// What `atomic-exchange` exchanges: too large for the processor's own instructions, so libatomic takes a mutex that it
// finds by the object's address.
#pragma once

#include <atomic>
#include <cstdint>

#include "common.hpp"

namespace bench {

struct Five {
  std::int32_t values[5];

  // Five times the same number: whole unless two exchanges got into each other.
  explicit Five(std::int32_t number = 0) : values{number, number, number, number, number} {}
  bool whole() const {
    for (const auto value : values)
      if (value != values[0]) return false;
    return true;
  }
};

// On a sector of its own, and so within what one mutex of libatomic's covers.
struct alignas(sector) Exchanged {
  std::atomic<Five> five;
};

}  // namespace bench
