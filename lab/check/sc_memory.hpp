// SPDX-License-Identifier: Apache-2.0
// Sequential consistency: a location has one value, which is the one in the arena.
#pragma once

#include <cstddef>
#include <cstdint>

#include "check/world.hpp"

namespace fairlock::check {

class ScMemory {
 public:
  explicit ScMemory(World& world) : world_(world) {}

  void reset() {}

  // In how many ways thread t can go on now; 0: it is blocked.
  unsigned outcomes(unsigned t) const {
    const auto& op = world_.thread(t).pending;
    if (op.kind == Kind::park) return world_.park_outcomes(t);
    if (op.kind == Kind::chance) return 2;
    if (!is_await(op.kind)) return 1;
    // Giving up is open only while the condition does not hold: the last look failed. What happens after that look but
    // before the next operation is another schedule.
    return may_give_up(op.kind) || satisfied(op);
  }

  void take(unsigned t, unsigned outcome) {
    const auto& op = world_.thread(t).pending;
    if (op.kind == Kind::unpark) return world_.unpark(t);
    if (world_.dead(op.address))
      return world_.violate(Property::destroyed, world_.show(op) + " after another thread destroyed or freed it");
    std::uint64_t value = 0;
    switch (op.kind) {
      case Kind::start:
      case Kind::touch:
      case Kind::fence: break;
      case Kind::chance: value = outcome; break;
      case Kind::access: world_.note_access(t); break;
      case Kind::store:
      case Kind::init: world_.write(op.address, op.width, op.operand); break;
      case Kind::load:
      case Kind::await: value = world_.read(op.address, op.width); break;
      case Kind::park: return world_.park(t, outcome);
      case Kind::await_briefly:
      case Kind::await_until:
        if (!satisfied(op)) return world_.resume(t, 0, true);
        value = world_.read(op.address, op.width);
        break;
      default:  // read-modify-write
        value = world_.read(op.address, op.width);
        if (op.kind == Kind::cas && value != op.expected) break;
        if (const auto now = updated(op, value); now != value) {
          world_.write(op.address, op.width, now);
          world_.note_change(t, op.address);
        }
    }
    world_.resume(t, value);
  }

  std::uint64_t hash() const { return 0; }
  std::size_t snapshot_size() const { return 0; }
  void save(std::byte*) const {}
  void restore(const std::byte*) {}

  // Whether all that thread t can do is to give up because of its deadline.
  bool only_deadline(unsigned t) const {
    const auto& op = world_.thread(t).pending;
    return op.kind == Kind::await_until && !satisfied(op);
  }

 private:
  bool satisfied(const Operation& op) const { return op.test(op.context, world_.read(op.address, op.width)); }

  World& world_;
};

}  // namespace fairlock::check
