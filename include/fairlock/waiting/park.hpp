// SPDX-License-Identifier: Apache-2.0
// Waiting policies `park` and `spin-then-park`: the waiter sleeps in the kernel, at once or after a bounded number of
// looks.
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

// The default policy. A sleep costs about ten microseconds of system calls and scheduling, so a waiter first looks for
// a shorter time than that. Then a few waiters yield for a while (waiting/yield_before_park.hpp).
template <class Backend>
struct BasicSpinThenPark : BasicPark<Backend> {
  static constexpr const char* name = "spin-then-park";
  static constexpr unsigned short_spin = 50;  // several microseconds
  static constexpr unsigned yields = 100;     // each followed by a look
};

using Park = BasicPark<SystemParking>;
using SpinThenPark = BasicSpinThenPark<SystemParking>;

}  // namespace v0
}  // namespace fairlock
