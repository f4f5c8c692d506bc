// Waiting policy `spin`: never leaves the processor. For the lab, and for threads that have a processor each.
#pragma once

#include <fairlock/waiting/relax.hpp>

namespace fairlock {
inline namespace v0 {

struct Spin {
  static constexpr const char* name = "spin";
  void step() { rest(); }
};

}  // namespace v0
}  // namespace fairlock
