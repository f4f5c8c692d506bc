// SPDX-License-Identifier: Apache-2.0
// Schedules as text, and the replay of a schedule step by step.

#include <memory>

#include "check/driver.hpp"

namespace fairlock::check {

std::string to_string(const std::vector<Step>& schedule) {
  std::string text;
  for (const auto step : schedule) {
    text += static_cast<char>('A' + step.thread);
    if (step.outcome != 0) text += std::to_string(step.outcome);
  }
  return text;
}

bool parse(const std::string& text, std::vector<Step>& schedule) {
  schedule.clear();
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] < 'A' || text[i] >= static_cast<char>('A' + max_threads)) return false;
    Step step{static_cast<std::uint8_t>(text[i++] - 'A'), 0};
    unsigned outcome = 0;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9' && outcome < 256)
      outcome = outcome * 10 + static_cast<unsigned>(text[i++] - '0');
    if (outcome > 255) return false;
    step.outcome = static_cast<std::uint8_t>(outcome);
    schedule.push_back(step);
  }
  return true;
}

namespace {

template <class Memory>
Replay follow(const Program& program, const Config& config, const std::vector<Step>& schedule) {
  auto driver = std::make_unique<Driver<Memory>>(program, config);
  if constexpr (requires { driver->memory.restart_with_fences(); }) {
    driver->world.reset();
    driver->memory.restart_with_fences();
    driver->begin();
  }
  auto& world = driver->world;
  Replay replay;
  for (const auto step : schedule) {
    const std::string name = thread_name(step.thread);
    if (driver->violated()) break;
    // A schedule recorded with an earlier version of the algorithm may have more steps for a thread than it takes now.
    const bool exists = step.thread < world.threads(), finished = exists && world.thread(step.thread).finished;
    const unsigned outcomes = exists && !finished ? driver->memory.outcomes(step.thread) : 0;
    if (exists && outcomes == 0) {
      replay.lines.push_back(name + (finished ? "  has finished: step skipped" : "  waits: step skipped"));
      ++replay.skipped;
      continue;
    }
    if (outcomes <= step.outcome) {
      replay.problem = "after " + std::to_string(replay.lines.size()) + " steps " + name + " cannot take outcome " +
                       std::to_string(step.outcome) + ": the schedule is of another scenario";
      return replay;
    }
    const Operation op = world.thread(step.thread).pending;
    std::string line = name + "  " + world.names().show(op);
    const auto phase_before = world.judge().standing(step.thread).phase;
    driver->take_shared_operation(step);
    const auto& thread = world.thread(step.thread);
    const auto phase = world.judge().standing(step.thread).phase;
    if (op.kind == Kind::load || op.kind == Kind::await || op.kind == Kind::await_exchange || is_rmw(op.kind))
      line += " = " + world.names().show_value(thread.result);
    if (op.kind == Kind::cas)
      line += thread.result == op.expected ? " done" : " failed, found " + world.names().show_value(thread.result);
    if (op.kind == Kind::chance) line += thread.result != 0 ? ": yes" : ": no";
    if (op.kind == Kind::park)
      line += thread.sleep == Sleep::asleep ? " falls asleep"
              : step.outcome == 1           ? " has waited long enough"
                                            : " wakes";
    if (may_give_up(op.kind)) line += thread.gave_up ? " gives up" : " = " + world.names().show_value(thread.result);
    if (thread.finished) line += "   [leaves for good]";
    else if (phase != phase_before && phase == Phase::inside) line += "   [enters]";
    else if (phase != phase_before && phase == Phase::outside) line += "   [has left]";
    replay.lines.push_back(std::move(line));
    driver->go_on_privately(step.thread);
  }
  if (!driver->violated()) {
    std::vector<Step> open;
    driver->open_steps(open);
    if (open.empty() || driver->stuck()) driver->judge_end();
  }
  replay.violation = world.judge().violation();
  return replay;
}

}  // namespace

Replay replay(const Program& program, const Config& config, const std::vector<Step>& schedule) {
  return config.weak ? follow<WeakMemory>(program, config, schedule) : follow<ScMemory>(program, config, schedule);
}

}  // namespace fairlock::check
