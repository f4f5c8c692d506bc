// SPDX-License-Identifier: Apache-2.0
// Waiting policies `park` and `spin-then-park`: sleep in the kernel, at once or after a bounded number of looks.
#pragma once

#include <fairlock/waiting/spin.hpp>

namespace fairlock {
inline namespace v0 {

template <class Backend>
struct BasicPark : Spin {
  static constexpr const char* name = "park";
  static constexpr bool sleeps = true;
  using Parking = Backend;
};

// The default wherever a person did not choose. Between two sleeps lie about ten microseconds of system calls and
// scheduling: a wait that is over sooner than the looks take is worth looking for. Then a few waiters step aside for a
// while (waiting/yield_before_park.hpp).
template <class Backend>
struct BasicSpinThenPark : BasicPark<Backend> {
  static constexpr const char* name = "spin-then-park";
  static constexpr unsigned looks = 50;   // several microseconds
  static constexpr unsigned steps = 100;  // aside, between further looks
};

using Park = BasicPark<SystemParking>;
using SpinThenPark = BasicSpinThenPark<SystemParking>;

}  // namespace v0
}  // namespace fairlock
