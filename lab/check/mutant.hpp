// SPDX-License-Identifier: Apache-2.0
// Mutants: planted bugs that the checker must find.
//
// A mutation rewrites operations of the real algorithm on their way to memory, so there is no second copy of a lock
// with a bug in it, and nothing of this reaches a native build. It names the phase and the field, and what goes wrong
// there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "check/world.hpp"

namespace fairlock::check {

enum class Slip : std::uint8_t {
  relax,           // the order becomes relaxed
  drop,            // nothing happens; what would be read is `value`, or for an RMW or await what is there
  delay,           // it happens after the thread's next operation
  split,           // an RMW becomes a load and a store
  to_store,        // an RMW becomes a store (of `value`, where it would have computed one), and nothing comes back
  stale,           // a load returns what the thread last read there
  pretend,         // the operation happens, but `value` is what comes back (and `step` more at each further match)
  write,           // `value` is written instead
  add_then_clear,  // two RMWs: `value` is added, then the bits of `step` are cleared
  subtract,        // `value` is subtracted from what is written
};

struct Mutation {
  Phase phase = Phase::acquiring;
  std::string_view field;  // as the algorithm calls it, or with its owner; empty: a fence
  Kind kind = Kind::load;
  Slip slip = Slip::relax;
  unsigned nth = 0;  // which match in the phase; 0: every one
  std::uint64_t value = 0;
  std::uint64_t step = 0;
  const Mutation* also = nullptr;  // a bug that takes two
};

struct Mutant {
  std::string_view name;
  std::string_view lock;  // a name of the catalogue
  Mutation mutation;
  std::string_view what;  // the bug, in words
};

std::span<const Mutant> mutants();

template <class Post>
std::uint64_t mutate(const Mutation& m, World& world, Thread& thread, const Operation& op, Post post) {
  const auto flush = [&](std::uint64_t result) {
    if (!thread.has_delayed) return result;
    thread.has_delayed = false;
    post(thread.delayed);
    return result;
  };
  const auto remember = [&](std::uint64_t result) {
    if (m.slip == Slip::stale) {
      thread.remembered = result;
      thread.remembers = true;
    }
    return result;
  };

  const auto* const name = world.named(op.address);
  const bool same_place =
      thread.phase == m.phase &&
      (m.field.empty() ? op.kind == Kind::fence : name && (m.field == name->field || m.field == name->text));
  if (!same_place || op.kind != m.kind) return flush(same_place ? remember(post(op)) : post(op));
  // No further than it matters: a loop must come back to the same state.
  if (thread.matches <= m.nth || m.step != 0) ++thread.matches;
  if (m.nth != 0 && thread.matches != m.nth) return flush(remember(post(op)));

  Operation changed = op;
  switch (m.slip) {
    case Slip::relax: changed.order = std::memory_order_relaxed; return flush(post(changed));
    case Slip::drop:
      if (op.kind == Kind::store || op.kind == Kind::init || op.kind == Kind::fence || op.kind == Kind::unpark)
        return 0;
      if (op.kind == Kind::cas && m.value != 0) return op.expected;  // "it succeeded"
      changed.kind = Kind::load;
      return flush(post(changed));
    case Slip::delay:
      thread.delayed = op;
      thread.has_delayed = true;
      return 0;
    case Slip::to_store:
      changed.kind = Kind::store;
      if (op.kind != Kind::exchange && op.kind != Kind::cas) changed.operand = m.value;
      return flush((post(changed), 0));
    case Slip::split: {
      changed.kind = op.kind == Kind::await_exchange ? Kind::await : Kind::load;
      const auto old = post(changed);
      if (op.kind == Kind::cas && old != op.expected) return flush(old);
      changed.kind = Kind::store;
      changed.operand = updated(op, old);
      changed.order = op.order == std::memory_order_acq_rel ? std::memory_order_release : op.order;
      post(changed);
      return flush(old);
    }
    case Slip::stale:
      if (thread.remembers) return thread.remembered;
      return flush(remember(post(op)));
    case Slip::pretend: post(op); return flush(m.value + (thread.matches - 1u) * m.step);
    case Slip::write: changed.operand = m.value; return flush(post(changed));
    case Slip::add_then_clear:
      changed.kind = Kind::fetch_add;
      changed.operand = m.value;
      post(changed);
      changed.kind = Kind::fetch_and;
      changed.operand = ~m.step;
      post(changed);
      return flush(op.expected);
    case Slip::subtract: changed.operand = op.operand - m.value; return flush(post(changed));
  }
  return 0;
}

}  // namespace fairlock::check
