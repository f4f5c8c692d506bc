// SPDX-License-Identifier: Apache-2.0
// Waiting policy `yield`: a bounded spin, then the processor is offered to others at every look.
// Short of sleeping, nothing else lets a queue lock make progress while its next owner has no processor.
#pragma once

#include <thread>

#include <fairlock/waiting/spin.hpp>

namespace fairlock {
inline namespace v0 {

struct Yield : Spin {
  static constexpr const char* name = "yield";
  static constexpr unsigned patience = 50;  // looks before the first yield: longer than a short critical section

  template <class F>
  void step(const void*, const F&) {
    if (looked_ < patience) {
      ++looked_;
      rest();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  unsigned looked_ = 0;
};

}  // namespace v0
}  // namespace fairlock
