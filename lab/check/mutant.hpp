// SPDX-License-Identifier: Apache-2.0
// Mutants: planted bugs that the checker must find.
//
// A mutation rewrites operations of the real algorithm on their way to memory. So no second copy of a lock exists, and
// no mutant reaches a native build. A mutation names the phase and the field, and what goes wrong there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "check/world.hpp"

namespace fairlock::check {

enum class Slip : std::uint8_t {
  relax,           // the order becomes relaxed
  drop,            // nothing happens; an RMW or await becomes a load, and a cas with `value` 1 returns success
  delay,           // the operation happens after the thread's next operation
  split,           // an RMW becomes a load and a store
  to_store,        // an RMW becomes a store (of `value`, if the RMW computes what it writes) and returns 0
  stale,           // a load returns what the thread last read there
  pretend,         // the operation happens, but returns `value` (and `step` more at each further match)
  write,           // the operation writes `value` instead
  add_then_clear,  // two RMWs: the first adds `value`, the second clears the bits of `step`
  subtract,        // the operation writes `value` less
};

struct Mutation {
  Phase phase = Phase::acquiring;
  std::string_view field;  // as the algorithm calls it, or with its owner; empty: a fence
  Kind kind = Kind::load;
  Slip slip = Slip::relax;
  unsigned nth = 0;  // which match in the phase; 0: all
  std::uint64_t value = 0;
  std::uint64_t step = 0;
  const Mutation* also = nullptr;  // a second mutation of the same bug
};

struct Mutant {
  std::string_view name;
  std::string_view lock;  // a name of the catalogue
  Mutation mutation;
  std::string_view what;  // the bug, in words
};

std::span<const Mutant> mutants();

// Posts what the mutation makes of a thread's operation, and returns the result for the algorithm.
template <class Post>
std::uint64_t mutate(const Mutation& m, Phase phase, const Names::Word* name, MutationState& state, const Operation& op,
                     Post post) {
  const auto flush = [&](std::uint64_t result) {
    if (!state.has_delayed) return result;
    state.has_delayed = false;
    post(state.delayed);
    return result;
  };
  const auto remember = [&](std::uint64_t result) {
    if (m.slip == Slip::stale) {
      state.remembered = result;
      state.remembers = true;
    }
    return result;
  };

  const bool same_place =
      phase == m.phase &&
      (m.field.empty() ? op.kind == Kind::fence : name && (m.field == name->field || m.field == name->text));
  if (!same_place || op.kind != m.kind) return flush(same_place ? remember(post(op)) : post(op));
  // Stop counting when the count no longer matters, so that a loop returns to the same state.
  if (state.matches <= m.nth || m.step != 0) ++state.matches;
  if (m.nth != 0 && state.matches != m.nth) return flush(remember(post(op)));

  Operation changed = op;
  switch (m.slip) {
    case Slip::relax: changed.order = std::memory_order_relaxed; return flush(post(changed));
    case Slip::drop:
      if (op.kind == Kind::store || op.kind == Kind::init || op.kind == Kind::fence || op.kind == Kind::unpark)
        return 0;
      if (op.kind == Kind::cas && m.value != 0) return op.expected;  // success
      changed.kind = Kind::load;
      return flush(post(changed));
    case Slip::delay:
      state.delayed = op;
      state.has_delayed = true;
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
      if (state.remembers) return state.remembered;
      return flush(remember(post(op)));
    case Slip::pretend: post(op); return flush(m.value + (state.matches - 1u) * m.step);
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
