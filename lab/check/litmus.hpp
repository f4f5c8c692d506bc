// SPDX-License-Identifier: Apache-2.0
// Litmus tests: small programs whose possible outcomes are known, to check the memory models against.
#pragma once

#include <span>
#include <string_view>

#include "check/program.hpp"

namespace fairlock::check {

struct Litmus {
  std::string_view name;
  std::string_view what;  // the outcome in question
  unsigned threads;
  bool sc, weak;  // whether each model can reach it
  Program (*program)();
};

std::span<const Litmus> litmus_tests();

}  // namespace fairlock::check
