// SPDX-License-Identifier: Apache-2.0
// Waiting policy `spin`: the waiter never gives up its processor. For the lab, and for threads that each have a
// processor.
//
// A waiting policy has these members:
//
//   step(word, unchanged)   wait between two looks; unchanged() is whether the word still has the value last seen
//   sleeps                  whether a waiter sleeps in the end
//   short_spin, long_spin   how many looks a waiter takes before it sleeps (platform/waiting.hpp)
//   yields                  how often the waiter then yields, if short_spin is not 0
//   Parking                 how the waiter sleeps (platform/parking.hpp)
#pragma once

#include <fairlock/platform/parking.hpp>
#include <fairlock/waiting/relax.hpp>

namespace fairlock {
inline namespace v0 {

struct Spin {
  static constexpr const char* name = "spin";
  static constexpr bool sleeps = false;
  static constexpr unsigned short_spin = 0, long_spin = 0;
  using Parking = SystemParking;
  template <class F>
  void step(const void*, const F&) {
    rest();
  }
};

}  // namespace v0
}  // namespace fairlock
