// SPDX-License-Identifier: Apache-2.0
// Driver: the operations that every search performs on a world and its memory model. It lists the open steps, takes a
// step, and saves and restores states.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "check/sc_memory.hpp"
#include "check/search.hpp"
#include "check/weak_memory.hpp"
#include "check/world.hpp"

namespace fairlock::check {

// Whether a thread may take the operation at once, because no other thread can change its outcome or notice it. A fence
// is private only under sequential consistency. An access is private because the judge notices an overlap when a thread
// enters, and the memory model notices a race by happens-before.
constexpr bool is_private(Kind kind, bool weak) {
  return kind == Kind::start || kind == Kind::access || kind == Kind::touch || kind == Kind::init ||
         (kind == Kind::fence && !weak);
}

template <class Memory>
struct Driver {
  World world;
  Memory memory{world};

  Driver(const Program& program, const Config& config) : world(program, config) { begin(); }

  void begin() {
    for (unsigned t = 0; t < world.threads(); ++t) go_on_privately(t);
  }

  // The step to try first comes last: searches take steps from the back.
  void open_steps(std::vector<Step>& steps) {
    // A random choice affects no other thread, so a thread that makes one goes first.
    for (unsigned t = 0; t < world.threads(); ++t)
      if (!world.thread(t).finished && world.thread(t).pending.kind == Kind::chance) return open_outcomes(steps, t);
    for (unsigned t = world.threads(); t-- > 0;) {
      if (world.thread(t).finished) continue;
      // If the threads are interchangeable, it is enough that they take their first steps in order.
      if (t > 0 && world.program().symmetric && !started(t) && !started(t - 1)) continue;
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

  // Takes the step without the private operations that follow it, whose results would hide the result of the step.
  void take_shared_operation(Step step) {
    world.judge().start(step.thread);
    memory.take(step.thread, step.outcome);
  }

  // Whether the only open steps are spurious wake-ups, and deadlines of threads that wait for something that no thread
  // holds. Then a wake-up was lost, and a deadline must not hide that.
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
    return waits && !(deadlines && world.judge().held());
  }

  bool violated() const { return world.judge().violated(); }
  bool started(unsigned t) const { return world.judge().standing(t).started; }

  // No thread can go on: either all have finished, or it is a deadlock.
  void judge_end() {
    if (world.all_finished()) return world.check_end();
    std::string waiters;
    for (unsigned t = 0; t < world.threads(); ++t) {
      if (world.thread(t).finished) continue;
      if (!waiters.empty()) waiters += ", ";
      waiters += thread_name(t) + " waits for " + world.names().show(world.thread(t).pending);
    }
    world.judge().violate(Property::deadlock, "no thread can go on: " + waiters);
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
