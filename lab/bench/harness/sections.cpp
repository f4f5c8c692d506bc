// SPDX-License-Identifier: Apache-2.0
#include "harness/sections.hpp"

#include <algorithm>
#include <iterator>

namespace bench {
namespace {

Generator::Kind kind_named(const std::string& name) {
  const auto position = std::find(std::begin(Generator::names), std::end(Generator::names), name);
  return static_cast<Generator::Kind>(position - std::begin(Generator::names));
}

constexpr std::uint64_t most_steps = 1'000'000'000;

}  // namespace

void Sections::parse_work(Arguments& arguments) {
  generator = kind_named(
      arguments.text("--generator", Generator::names[1], {std::begin(Generator::names), std::end(Generator::names)}));
  critical = arguments.number("--critical", std::uint64_t{0}, 0, most_steps);
  non_critical = arguments.number("--non-critical", std::uint64_t{0}, 0, most_steps);
  shared = arguments.text("--critical-on", "shared", {"shared", "private"}) == "shared";
  random = arguments.flag("--random");
}

void Sections::parse(Arguments& arguments) {
  parse_work(arguments);
  second_window = arguments.flag("--timed-apart");
  timed = arguments.flag("--timed") || second_window;
  handover = arguments.flag("--handover");
  migrations = arguments.flag("--migrations");
}

}  // namespace bench
