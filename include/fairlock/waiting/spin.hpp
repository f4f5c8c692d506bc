// SPDX-License-Identifier: Apache-2.0
// Waiting policy `spin`: never leaves the processor. For the lab, and for threads that have a processor each.
//
// A policy says how a thread waits between two looks (`step`, told the word and a way to ask whether it is still the
// same), whether it falls asleep in the end (`sleeps`), after how many looks, and how (`Parking`).
#pragma once

#include <fairlock/platform/parking.hpp>
#include <fairlock/waiting/relax.hpp>

namespace fairlock {
inline namespace v0 {

struct Spin {
  static constexpr const char* name = "spin";
  static constexpr bool sleeps = false;
  static constexpr unsigned looks = 0, long_looks = 0;
  using Parking = SystemParking;
  template <class F>
  void step(const void*, const F&) {
    rest();
  }
};

}  // namespace v0
}  // namespace fairlock
