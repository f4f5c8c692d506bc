// SPDX-License-Identifier: Apache-2.0
// Litmus tests: the memory models, held against what is known of them.
#pragma once

#include <span>
#include <string_view>

#include "check/world.hpp"

namespace fairlock::check {

struct Litmus {
  std::string_view name;
  std::string_view what;  // the outcome in question
  unsigned threads;
  bool sc, weak;  // whether it can be reached
  Program (*program)();
};

std::span<const Litmus> litmus_tests();

}  // namespace fairlock::check
