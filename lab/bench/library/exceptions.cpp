// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "library/exceptions.hpp"

extern "C" void __register_frame(void* table);  // a function of libgcc that no header declares

namespace bench {
namespace {

char code[16];  // stands for compiled code, and never runs

// A table in the format of .eh_frame: the common part of all functions, one function, and the end.
struct Table {
  std::uint32_t common_length = offsetof(Table, length) - sizeof(std::uint32_t);
  std::uint32_t common_id = 0;
  std::uint8_t version = 1;
  char augmentation = '\0';
  std::uint8_t code_factor = 1, data_factor = 0x78 /* -8 */, return_address = 16, padding[3] = {};

  std::uint32_t length = offsetof(Table, end) - offsetof(Table, to_common);
  std::uint32_t to_common = offsetof(Table, to_common);
  const void* begin = code;
  std::size_t size = sizeof code;

  std::uint32_t end = 0;
};

static_assert(offsetof(Table, begin) == offsetof(Table, to_common) + sizeof(std::uint32_t));  // no gaps

}  // namespace

void register_frames() {
  static Table table;
  __register_frame(&table);
}

}  // namespace bench
