// SPDX-License-Identifier: Apache-2.0
// Fibers: a stack each, and a switch between them that leaves all of a fiber's state on its stack, so that copying the
// live part of the stack away and back again rewinds the fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlock::check {

extern "C" void fairlock_switch(void** save_sp, void* load_sp);

class Fiber {
 public:
  static constexpr std::size_t stack_size = 16 * 1024;

  Fiber() : stack_(new (std::align_val_t{64}) std::byte[stack_size]{}) {}

  // A stack pointer from which a switch starts entry(argument); entry must never return.
  void* prepare(void (*entry)(void*), void* argument);

  std::byte* top() const { return stack_.get() + stack_size; }
  std::byte* bottom() const { return stack_.get(); }

 private:
  struct Free {
    void operator()(std::byte* stack) const { operator delete[](stack, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> stack_;
};

}  // namespace fairlock::check
