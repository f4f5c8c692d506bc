// SPDX-License-Identifier: Apache-2.0
// Waiting policy `yield`: the waiter spins for a bounded time, and then yields its processor between looks. Unless
// waiters sleep, nothing else lets a queue lock make progress while its next owner has no processor.
#pragma once

#include <thread>

#include <fairlock/waiting/spin.hpp>

namespace fairlock {
inline namespace v0 {

struct Yield : Spin {
  static constexpr const char* name = "yield";
  static constexpr unsigned looks_before_yield = 50;  // longer than a short critical section

  template <class F>
  void step(const void*, const F&) {
    if (looks_ < looks_before_yield) {
      ++looks_;
      rest();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  unsigned looks_ = 0;
};

}  // namespace v0
}  // namespace fairlock
