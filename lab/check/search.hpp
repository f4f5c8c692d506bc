// SPDX-License-Identifier: Apache-2.0
// The ways to drive a world through its schedules.
//
//   explore             depth first, with snapshots to return to and a set of the hashes of all states seen
//   replay              one schedule, with a description of every step
//   all_interleavings   every schedule
//   dpor                at least one schedule of each trace
//
// all_interleavings and dpor must find the same traces.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "check/world.hpp"

namespace fairlock::check {

// One step: the thread that goes on, and the number of one of its outcomes.
struct Step {
  std::uint8_t thread;
  std::uint8_t outcome;
};

// A schedule as a short string: a letter for each thread, and the number of the outcome if it is not 0. "AAB1C".
std::string to_string(const std::vector<Step>& schedule);
// False if the text is not a schedule.
bool parse(const std::string& text, std::vector<Step>& schedule);

struct Result {
  std::uint64_t states = 0;
  bool complete = false;  // the search explored everything, or found a violation
  Violation violation;
  std::vector<Step> schedule;  // the steps that lead to the violation
  double seconds = 0;
};

// Shared with the thread that watches the search.
struct Progress {
  std::atomic<std::uint64_t> states{0};
  std::atomic<bool> cancelled{false};
};

Result explore(const Program& program, const Config& config, std::uint64_t max_states, Progress& progress);

struct Replay {
  std::vector<std::string> lines;
  Violation violation;
  std::string problem;   // why the replay could not follow the schedule to its end
  unsigned skipped = 0;  // steps of threads that waited or had finished
};
Replay replay(const Program& program, const Config& config, const std::vector<Step>& schedule);

struct Traces {
  std::unordered_set<std::uint64_t> traces;
  std::uint64_t executions = 0;
  bool complete = false;
  Violation violation;
  std::vector<Step> schedule;  // the steps that lead to the violation
};
Traces all_interleavings(const Program& program, const Config& config, std::uint64_t max_executions,
                         Progress& progress);
Traces dpor(const Program& program, const Config& config, std::uint64_t max_executions, Progress& progress);

}  // namespace fairlock::check
