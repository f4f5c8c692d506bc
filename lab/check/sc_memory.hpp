// SPDX-License-Identifier: Apache-2.0
// Sequential consistency: each location has one value, the value in the arena.
#pragma once

#include <cstddef>
#include <cstdint>

#include "check/world.hpp"

namespace fairlock::check {

class ScMemory {
 public:
  explicit ScMemory(World& world) : world_(world) {}

  void reset() {}

  // The number of ways in which thread t can go on now; 0: it is blocked.
  unsigned outcomes(unsigned t) const {
    const auto& op = world_.thread(t).pending;
    if (op.kind == Kind::park) return world_.park_outcomes(t);
    if (op.kind == Kind::chance) return 2;
    if (!is_await(op.kind)) return 1;
    // A thread may give up only while the condition does not hold, because its last check failed. What happens between
    // that check and the thread's next operation is another schedule.
    return may_give_up(op.kind) || satisfied(op);
  }

  void take(unsigned t, unsigned outcome) {
    const auto& op = world_.thread(t).pending;
    if (op.kind == Kind::unpark) return world_.unpark(t);
    if (world_.dead(op.address))
      return world_.judge().violate(Property::destroyed,
                                    world_.names().show(op) + " after another thread destroyed or freed it");
    std::uint64_t value = 0;
    switch (op.kind) {
      case Kind::start:
      case Kind::touch:
      case Kind::access:
      case Kind::fence: break;
      case Kind::chance: value = outcome; break;
      case Kind::store:
      case Kind::init: world_.arena().write(op.address, op.width, op.operand); break;
      case Kind::load:
      case Kind::await: value = world_.arena().read(op.address, op.width); break;
      case Kind::park: return world_.park(t, outcome);
      case Kind::await_briefly:
      case Kind::await_until:
        if (!satisfied(op)) return world_.resume(t, 0, true);
        value = world_.arena().read(op.address, op.width);
        break;
      default:  // read-modify-write
        value = world_.arena().read(op.address, op.width);
        if (op.kind == Kind::cas && value != op.expected) break;
        if (const auto now = updated(op, value); now != value) {
          world_.arena().write(op.address, op.width, now);
          world_.note_change(t, op.address);
        }
    }
    world_.resume(t, value);
  }

  std::uint64_t hash() const { return 0; }
  std::size_t snapshot_size() const { return 0; }
  void save(std::byte*) const {}
  void restore(const std::byte*) {}

  // Whether thread t can do nothing but give up because of its deadline.
  bool only_deadline(unsigned t) const {
    const auto& op = world_.thread(t).pending;
    return op.kind == Kind::await_until && !satisfied(op);
  }

 private:
  bool satisfied(const Operation& op) const { return op.test(op.context, world_.arena().read(op.address, op.width)); }

  World& world_;
};

}  // namespace fairlock::check
