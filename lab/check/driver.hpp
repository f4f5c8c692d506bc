// SPDX-License-Identifier: Apache-2.0
// What every search does with a world and its memory: list the steps that are open, take one, save and come back.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check/sc_memory.hpp"
#include "check/search.hpp"
#include "check/weak_memory.hpp"
#include "check/world.hpp"

namespace fairlock::check {

template <class Memory>
struct Driver {
  World world;
  Memory memory{world};

  Driver(const Program& program, const Config& config) : world(program, config) { begin(); }

  void begin() {
    for (unsigned t = 0; t < world.threads(); ++t) go_on_privately(t);
  }

  // The one to try first comes last: searches take steps from the back.
  void open_steps(std::vector<Step>& steps) {
    // Chance has to do with nobody else: whoever is left to it goes first.
    for (unsigned t = 0; t < world.threads(); ++t)
      if (!world.thread(t).finished && world.thread(t).pending.kind == Kind::chance) return open_outcomes(steps, t);
    for (unsigned t = world.threads(); t-- > 0;) {
      if (world.thread(t).finished) continue;
      // Where threads are alike, they may as well take their first steps in order.
      if (t > 0 && world.program().symmetric && world.thread(t).steps == 0 && world.thread(t - 1).steps == 0) continue;
      open_outcomes(steps, t);
    }
  }

  void open_outcomes(std::vector<Step>& steps, unsigned t) {
    for (unsigned o = memory.outcomes(t); o-- > 0;)
      steps.push_back({static_cast<std::uint8_t>(t), static_cast<std::uint8_t>(o)});
  }

  void take(Step step) {
    take_shared_operation(step);
    go_on_privately(step.thread);
  }

  // Takes the step without the private operations that follow it: their results would hide the result of the step.
  void take_shared_operation(Step step) {
    world.moving.threads[step.thread].steps = 1;
    memory.take(step.thread, step.outcome);
  }

  // Whether nobody can go on but by waking for no reason, or by giving up because of a deadline while nobody holds what
  // it waits for: a wake-up was lost, and a deadline must not hide that.
  bool stuck() {
    bool waits = false, deadlines = false;
    for (unsigned t = 0; t < world.threads(); ++t) {
      const auto& thread = world.thread(t);
      if (thread.finished) continue;
      waits = true;
      const bool asleep = thread.sleep == Sleep::asleep, only_deadline = memory.only_deadline(t);
      if (!asleep && !only_deadline && memory.outcomes(t) != 0) return false;
      deadlines |= only_deadline || (asleep && thread.pending.operand != 0);
    }
    return waits && !(deadlines && world.held());
  }

  bool violated() const { return world.moving.violated != Property::none; }

  // Nobody can go on: either everybody is done, or it is a deadlock.
  void judge_end() {
    if (world.all_finished()) return world.check_end();
    std::string who;
    for (unsigned t = 0; t < world.threads(); ++t) {
      if (world.thread(t).finished) continue;
      if (!who.empty()) who += ", ";
      who += std::string(1, static_cast<char>('A' + t)) + " waits for " + world.show(world.thread(t).pending);
    }
    world.violate(Property::deadlock, "nobody can go on: " + who);
  }

  void go_on_privately(unsigned t) {
    while (!violated() && !world.thread(t).finished && is_private(world.thread(t).pending.kind, world.config().weak))
      memory.take(t, 0);
  }

  // Snapshots form a stack.
  class Snapshots {
   public:
    void push(const Driver& driver) {
      const auto size = driver.world.snapshot_size() + driver.memory.snapshot_size();
      offsets_.push_back(used_);
      if (bytes_.size() < used_ + size) bytes_.resize((used_ + size) * 2);
      driver.memory.save(driver.world.save(bytes_.data() + used_));
      used_ += size;
    }
    void restore_top(Driver& driver) const {
      driver.memory.restore(driver.world.restore(bytes_.data() + offsets_.back()));
    }
    void pop() {
      used_ = offsets_.back();
      offsets_.pop_back();
    }
    void clear() {
      used_ = 0;
      offsets_.clear();
    }

   private:
    std::vector<std::byte> bytes_;
    std::vector<std::size_t> offsets_;
    std::size_t used_ = 0;
  };
};

}  // namespace fairlock::check
