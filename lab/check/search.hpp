// SPDX-License-Identifier: Apache-2.0
// The ways to drive a world through its schedules.
//
//   explore    depth first, with snapshots to come back to and a set of the hashes of states already seen
//   replay     one schedule, with a description of every step
//   traces     every interleaving, or (dpor) at least one of each trace: two searches that must find the same traces
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "check/world.hpp"

namespace fairlock::check {

// One step: which thread goes on, and with which of the outcomes that are open to it.
struct Step {
  std::uint8_t thread;
  std::uint8_t outcome;
};

// A schedule as a short string: a letter for the thread, and the outcome's number where it is not 0. "AAB1C".
std::string to_string(const std::vector<Step>& schedule);
// False if the text is not a schedule.
bool parse(const std::string& text, std::vector<Step>& schedule);

struct Result {
  std::uint64_t states = 0;
  bool complete = false;  // everything was explored, or a violation was found
  Violation violation;
  std::vector<Step> schedule;  // that leads to it
  double seconds = 0;
};

// Shared with whoever watches.
struct Progress {
  std::atomic<std::uint64_t> states{0};
  std::atomic<bool> cancelled{false};
};

Result explore(const Program& program, const Config& config, std::uint64_t max_states, Progress& progress);

struct Replay {
  std::vector<std::string> lines;
  Violation violation;
  std::string problem;   // why the schedule cannot be followed to its end
  unsigned skipped = 0;  // steps of threads that were waiting or had finished
};
Replay replay(const Program& program, const Config& config, const std::vector<Step>& schedule);

struct Traces {
  std::unordered_set<std::uint64_t> traces;
  std::uint64_t executions = 0;
  bool complete = false;
  Violation violation;
  std::vector<Step> schedule;  // that leads to it
};
Traces all_interleavings(const Program& program, const Config& config, std::uint64_t max_executions,
                         Progress& progress);
Traces dpor(const Program& program, const Config& config, std::uint64_t max_executions, Progress& progress);

}  // namespace fairlock::check
