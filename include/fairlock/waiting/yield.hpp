// Waiting policy `yield`: a bounded spin, then the processor is offered to others at every look.
// Nothing else lets a queue lock make progress while its next owner has no processor, short of sleeping.
#pragma once

#include <thread>

#include <fairlock/waiting/relax.hpp>

namespace fairlock {
inline namespace v0 {

struct Yield {
  static constexpr const char* name = "yield";
  static constexpr unsigned patience = 50;  // looks before the first yield: longer than a short critical section

  void step() {
    if (looks_ < patience) {
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
