// SPDX-License-Identifier: Apache-2.0
// Fiber: a stack, and a switch to another stack. A switch saves all registers on the stack that it leaves, so a copy of
// the live part of a stack is a copy of the fiber. Writing the copy back rewinds the fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlock::runtime {

// Saves the stack pointer of the caller in `save_sp`, and continues where `load_sp` was saved: the switch that saved it
// returns `value`.
extern "C" std::uint64_t fairlock_switch(void** save_sp, void* load_sp, std::uint64_t value);

class Fiber {
 public:
  static constexpr std::size_t stack_size = 16 * 1024;

  Fiber() : stack_(new (std::align_val_t{64}) std::byte[stack_size]{}) {}

  // Returns a stack pointer: a switch to it starts entry(argument). The entry must never return.
  void* prepare(void (*entry)(void*), void* argument);

  std::byte* top() const { return stack_.get() + stack_size; }
  std::byte* bottom() const { return stack_.get(); }

 private:
  struct Free {
    void operator()(std::byte* stack) const { operator delete[](stack, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> stack_;
};

}  // namespace fairlock::runtime
