// SPDX-License-Identifier: Apache-2.0
#include "check/weak_memory.hpp"

#include <algorithm>
#include <cstring>

namespace fairlock::check {

namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

template <class View>
void join(View& into, const View& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

void WeakMemory::reset() { fixed_ = Fixed{}; }

unsigned WeakMemory::location(const Operation& op) {
  auto& known = location_of_[world_.arena().offset(op.address) / 4];
  if (known == 0) {
    if (locations_known_ == max_locations)
      throw TooLarge("the scenario uses more words than the weak memory model has space for");
    known = ++locations_known_;
  }
  const unsigned location = known - 1u;
  auto& list = fixed_.lists[location];
  if (list.length == 0) {  // the first use on this path: every thread may read the value that is there
    messages_[fixed_.messages] = Message{world_.arena().read(op.address, op.width), {}, false};
    list.message[0] = fixed_.messages++;
    list.length = 1;
  }
  return location;
}

template <class F>
void WeakMemory::each_outcome(unsigned t, F&& visit) {
  const auto& op = world_.thread(t).pending;
  if (op.kind == Kind::park) {  // the kernel reads the newest value
    location(op);
    for (unsigned o = 0; o < world_.park_outcomes(t); ++o)
      if (!visit(Effect::none, o)) return;
    return;
  }
  if (op.kind == Kind::start || op.kind == Kind::fence || op.kind == Kind::access || op.kind == Kind::touch ||
      op.kind == Kind::unpark) {
    visit(Effect::none, 0);
    return;
  }
  if (op.kind == Kind::chance) {
    if (visit(Effect::none, 0)) visit(Effect::none, 1);
    return;
  }
  const unsigned l = location(op);
  const auto& list = fixed_.lists[l];
  const unsigned oldest = fixed_.threads[t].now[l];
  const auto free_behind = [&](unsigned p) { return p + 1 == list.length || !message(l, p + 1).of_rmw; };
  const auto satisfies = [&](unsigned p) { return op.test(op.context, message(l, p).value); };

  if (op.kind == Kind::init) {
    visit(Effect::write, list.length);
    return;
  }
  if (op.kind == Kind::store) {
    for (unsigned p = list.length; p > oldest; --p)
      if (free_behind(p - 1) && !visit(Effect::write, p)) return;
    return;
  }
  bool satisfied = false, unsatisfied = false;
  for (unsigned p = list.length; p-- > oldest;) {  // the newest first: outcome 0 is what happens under sc
    const auto value = message(l, p).value;
    Effect effect = Effect::read;
    if (is_await(op.kind)) {
      if (!satisfies(p)) {
        unsatisfied = true;
        continue;
      }
      satisfied = true;
    }
    if (is_rmw(op.kind) || (op.kind == Kind::cas && value == op.expected)) {
      if (!free_behind(p)) continue;
      effect = Effect::modify;
    }
    if (!visit(effect, p)) return;
  }
  if (may_give_up(op.kind) && unsatisfied) visit(Effect::give_up, 0);
  // The value was there only briefly: a waiter may also check too late.
  if ((op.kind == Kind::await || op.kind == Kind::await_until) && satisfied && !satisfies(list.length - 1u))
    visit(Effect::miss, list.length - 1u);
}

bool WeakMemory::only_deadline(unsigned t) {
  if (world_.thread(t).pending.kind != Kind::await_until) return false;
  bool other = false;
  each_outcome(t, [&](Effect effect, unsigned) { return other |= effect != Effect::give_up, true; });
  return !other;
}

unsigned WeakMemory::outcomes(unsigned t) {
  unsigned count = 0;
  each_outcome(t, [&](Effect, unsigned) { return ++count, true; });
  return count;
}

void WeakMemory::take(unsigned t, unsigned outcome) {
  const Operation op = world_.thread(t).pending;
  if (op.kind == Kind::unpark) return world_.unpark(t);
  if (world_.dead(op.address))
    return world_.judge().violate(Property::destroyed,
                                  world_.names().show(op) + " after another thread destroyed or freed it");
  if (op.kind == Kind::park) return world_.park(t, outcome);
  Effect effect = Effect::none;
  unsigned position = 0, count = 0;
  each_outcome(t, [&](Effect e, unsigned p) {
    effect = e;
    position = p;
    return count++ != outcome;
  });

  if (effect != Effect::none) {
    // An init is not interleaved with other operations. So this checks its assumption, that no other thread can see the
    // word.
    const unsigned l = location(op);
    const auto seen = fixed_.threads[t].now[l];
    if (op.kind == Kind::init ? seen + 1u != position : seen < fixed_.unseen[l])
      return world_.judge().violate(
          Property::race,
          world_.names().show(op) + " races with another thread's use of the word, and one of the two is an init");
    if (op.kind == Kind::init) fixed_.unseen[l] = static_cast<std::uint8_t>(position);
  }

  std::uint64_t value = 0;
  switch (effect) {
    case Effect::none:
      if (op.kind == Kind::fence) fence(t, op.order);
      if (op.kind == Kind::access) access(t, op);
      if (op.kind == Kind::chance) value = position;
      if (op.kind == Kind::touch)
        touch(t, op, world_.names().show(op) + " is not ordered after the last use of that word");
      break;
    case Effect::give_up: return world_.resume(t, 0, true);
    case Effect::miss: {
      const unsigned l = location(op);
      fixed_.threads[t].now[l] = static_cast<std::uint8_t>(position);
      return;  // still waiting
    }
    case Effect::read: {
      const unsigned l = location(op);
      value = message(l, position).value;
      read(t, l, position, acquires(op.order));
      break;
    }
    case Effect::write: insert(t, location(op), position, op.operand, releases(op.order), nullptr); break;
    case Effect::modify: {
      const unsigned l = location(op);
      value = message(l, position).value;
      read(t, l, position, acquires(op.order));
      const Message carried = message(l, position);
      insert(t, l, position + 1, updated(op, value), releases(op.order), &carried);
      if (updated(op, value) != value) world_.note_change(t, op.address);
      break;
    }
  }
  if (effect == Effect::write || effect == Effect::modify) {
    const unsigned l = location(op);
    world_.arena().write(op.address, op.width, message(l, fixed_.lists[l].length - 1u).value);
  }
  world_.resume(t, value);
}

void WeakMemory::read(unsigned t, unsigned l, unsigned position, bool acquire) {
  auto& views = fixed_.threads[t];
  const auto& from = message(l, position).view;
  views.now[l] = std::max(views.now[l], static_cast<std::uint8_t>(position));
  if (acquire) join(views.now, from);
  if (fences_) {
    join(views.fetched, from);
    join(views.fetched, views.now);
  }
}

void WeakMemory::insert(unsigned t, unsigned l, unsigned position, std::uint64_t value, bool release,
                        const Message* carried) {
  auto& list = fixed_.lists[l];
  if (list.length == max_list || fixed_.messages == max_messages)
    throw TooLarge("the scenario writes more often than the weak memory model has space for");
  if (position < list.length) {  // an insertion in the middle moves up the later positions in all views
    const auto shift = [&](View& view) { view[l] += view[l] >= position; };
    for (auto& views : fixed_.threads) {
      shift(views.now);
      shift(views.fetched);
      shift(views.fenced);
    }
    shift(fixed_.fence);
    shift(fixed_.unseen);
    for (unsigned m = 0; m < fixed_.messages; ++m) shift(messages_[m].view);
    std::memmove(list.message + position + 1, list.message + position, list.length - position);
  }
  auto& views = fixed_.threads[t];
  views.now[l] = static_cast<std::uint8_t>(position);
  if (fences_) views.fetched[l] = std::max(views.fetched[l], views.now[l]);
  Message& written = messages_[fixed_.messages];
  written = Message{value, release ? views.now : views.fenced, carried != nullptr};
  written.view[l] = static_cast<std::uint8_t>(position);
  if (carried) join(written.view, carried->view);
  list.message[position] = fixed_.messages++;
  ++list.length;
}

void WeakMemory::fence(unsigned t, std::memory_order order) {
  saw_fence_ = true;
  auto& views = fixed_.threads[t];
  if (acquires(order)) join(views.now, views.fetched);
  if (order == std::memory_order_seq_cst) {
    join(views.now, fixed_.fence);
    fixed_.fence = views.now;
    join(views.fetched, views.now);
  }
  if (releases(order)) views.fenced = views.now;
}

// Threads read and write the protected data without atomics, so a thread must have seen every access before its own.
// The data of each lock has a location, at the end of the fixture's space, so that views carry it like any other.
void WeakMemory::access(unsigned t, const Operation& op) {
  Operation data;
  data.address = reinterpret_cast<std::uintptr_t>(&world_.fixture()[World::fixture_space - 8 * (op.operand + 1)]);
  touch(t, data, "the last access to the data does not happen before this one");
}

void WeakMemory::touch(unsigned t, const Operation& op, std::string race) {
  const unsigned l = location(op);
  const auto last = fixed_.lists[l].length - 1u;
  if (fixed_.threads[t].now[l] != last) return world_.judge().violate(Property::race, std::move(race));
  insert(t, l, last + 1, 0, false, nullptr);
}

std::uint64_t WeakMemory::hash() const {
  // The oldest message of each location that any thread can still read.
  View floor;
  floor.fill(0xff);
  for (unsigned t = 0; t < world_.threads(); ++t) {
    if (world_.thread(t).finished) continue;
    for (unsigned l = 0; l < max_locations; ++l) floor[l] = std::min(floor[l], fixed_.threads[t].now[l]);
  }
  std::uint64_t hash = 0x5eed;
  const auto add = [&](const View& view) {
    View above;
    for (unsigned l = 0; l < max_locations; ++l)
      above[l] = static_cast<std::uint8_t>(std::max(view[l], floor[l]) - floor[l]);
    std::uint64_t words[max_locations / 8];
    std::memcpy(words, above.data(), sizeof words);
    for (const auto word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  };
  for (unsigned t = 0; t < world_.threads(); ++t) {
    if (world_.thread(t).finished) continue;
    add(fixed_.threads[t].now);
    if (fences_) {
      add(fixed_.threads[t].fetched);
      add(fixed_.threads[t].fenced);
    }
  }
  if (fences_) add(fixed_.fence);
  add(fixed_.unseen);
  for (unsigned l = 0; l < locations_known_; ++l) {
    const auto& list = fixed_.lists[l];
    hash = scramble(hash, l);
    for (unsigned p = floor[l]; p < list.length; ++p) {
      const auto& m = messages_[list.message[p]];
      hash = scramble(hash, m.value * 2 + (m.of_rmw && p > floor[l]));
      add(m.view);
    }
  }
  return scramble(hash);
}

std::size_t WeakMemory::snapshot_size() const { return sizeof(Fixed) + fixed_.messages * sizeof(Message); }

void WeakMemory::save(std::byte* to) const {
  std::memcpy(to, &fixed_, sizeof fixed_);
  std::memcpy(to + sizeof fixed_, messages_.data(), fixed_.messages * sizeof(Message));
}

void WeakMemory::restore(const std::byte* from) {
  std::memcpy(&fixed_, from, sizeof fixed_);
  std::memcpy(messages_.data(), from + sizeof fixed_, fixed_.messages * sizeof(Message));
}

}  // namespace fairlock::check
