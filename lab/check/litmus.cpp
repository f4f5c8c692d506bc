// SPDX-License-Identifier: Apache-2.0
// Each test is a few threads over the words x, y and z, and a question about what they read and what is left.
// The answers under `weak` are RC11's, without load buffering.

#include "check/litmus.hpp"

#include "check/checked.hpp"

namespace fairlock::check {

namespace {

struct Words {
  CheckedMemory::atomic<std::uint64_t> x, y, z;
  CheckedMemory::tally<std::uint64_t> read[6];  // what the threads saw, in the order of the program text

  template <class V>
  void fields(V&& visit) const {
    visit("x", x);
    visit("y", y);
    visit("z", z);
  }
};

// Body is void(Words&, unsigned thread); Reached is bool(const Words&), asked when all threads are done.
template <auto Body, auto Reached>
Program make() {
  Program p;
  p.construct = [](void* memory) { new (memory) Words; };
  p.body = [](void* memory, unsigned thread, unsigned) { Body(*static_cast<Words*>(memory), thread); };
  p.visit = [](const void* memory, World& world) { register_fields(world, *static_cast<const Words*>(memory), ""); };
  p.locked = [](const void* memory) { return Reached(*static_cast<const Words*>(memory)); };
  p.fixture_size = sizeof(Words);
  p.lock_size = sizeof(Words);
  return p;
}

using std::memory_order;
constexpr auto relaxed = order::relaxed, acquire = order::acquire, release = order::release, acq_rel = order::acq_rel,
               seq_cst = order::seq_cst;
constexpr memory_order no_fence = relaxed;

void fence(memory_order o) {
  if (o != no_fence) Checked::fence(o);
}

bool saw(const Words& w, std::initializer_list<std::uint64_t> expected) {
  unsigned i = 0;
  for (const auto value : expected)
    if (w.read[i++] != value) return false;
  return true;
}

// SB: x = 1; read y   ||   y = 1; read x
template <memory_order Store, memory_order Load, memory_order Fence>
void store_buffering(Words& w, unsigned t) {
  (t == 0 ? w.x : w.y).store(1, Store);
  fence(Fence);
  w.read[t] = (t == 0 ? w.y : w.x).load(Load);
}
constexpr auto both_old = [](const Words& w) { return saw(w, {0, 0}); };

// The same, where the first thread looks at y by an RMW that changes nothing, and the second writes it by one.
void store_buffering_rmw(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, release);
    w.read[0] = w.y.fetch_add(0, acq_rel);
  } else {
    w.y.exchange(1, acq_rel);
    w.read[1] = w.x.load(acquire);
  }
}
// A CAS that fails is only a load.
void store_buffering_failed_cas(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, release);
    std::uint64_t seen = 7;
    w.y.compare_exchange(seen, 8, acq_rel);
    w.read[0] = seen;
  } else {
    w.y.exchange(1, acq_rel);
    w.read[1] = w.x.load(acquire);
  }
}

// MP: x = 1; y = 1   ||   read y; read x
template <memory_order Store, memory_order Load, memory_order Before, memory_order After>
void message_passing(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, relaxed);
    fence(Before);
    w.y.store(1, Store);
  } else {
    w.read[0] = w.y.load(Load);
    fence(After);
    w.read[1] = w.x.load(relaxed);
  }
}
constexpr auto flag_without_message = [](const Words& w) { return saw(w, {1, 0}); };

// A third thread goes over the flag, by an RMW (which carries the release on) or by a store (which does not).
template <bool Rmw>
void release_sequence(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, relaxed);
    w.y.store(1, release);
  } else if (t == 1) {
    if (Rmw) w.y.fetch_add(1, relaxed);
    else if (w.y.load(relaxed) == 1) w.y.store(2, relaxed);
  } else {
    w.read[0] = w.y.load(acquire);
    w.read[1] = w.x.load(relaxed);
  }
}
constexpr auto second_flag_without_message = [](const Words& w) { return saw(w, {2, 0}); };

// LB: read x; y = 1   ||   read y; x = 1
void load_buffering(Words& w, unsigned t) {
  w.read[t] = (t == 0 ? w.x : w.y).load(relaxed);
  (t == 0 ? w.y : w.x).store(1, relaxed);
}

// CoRR: x = 1   ||   read x; read x
void coherence(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, relaxed);
  } else {
    w.read[0] = w.x.load(relaxed);
    w.read[1] = w.x.load(relaxed);
  }
}

// 2+2W: x = 1; y = 2   ||   y = 1; x = 2, and x == y == 1 is left
template <memory_order Store, memory_order Fence>
void two_plus_two_writes(Words& w, unsigned t) {
  (t == 0 ? w.x : w.y).store(1, relaxed);
  fence(Fence);
  (t == 0 ? w.y : w.x).store(2, Store);
}
constexpr auto first_writes_win = [](const Words& w) { return w.x.load(relaxed) == 1 && w.y.load(relaxed) == 1; };

// S: x = 2; y = 1   ||   read y; x = 1, and x == 2 is left though y was seen
template <memory_order Store, memory_order Load>
void write_after_message(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(2, relaxed);
    w.y.store(1, Store);
  } else {
    w.read[0] = w.y.load(Load);
    w.x.store(1, relaxed);
  }
}
constexpr auto older_write_wins = [](const Words& w) { return saw(w, {1}) && w.x.load(relaxed) == 2; };

// WRC: x = 1   ||   read x; y = 1   ||   read y; read x
void write_to_read_causality(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, relaxed);
  } else if (t == 1) {
    w.read[0] = w.x.load(relaxed);
    w.y.store(1, release);
  } else {
    w.read[1] = w.y.load(acquire);
    w.read[2] = w.x.load(relaxed);
  }
}

// IRIW: x = 1   ||   y = 1   ||   read x; read y   ||   read y; read x
template <memory_order Fence>
void independent_reads(Words& w, unsigned t) {
  if (t < 2) return (t == 0 ? w.x : w.y).store(1, release);
  w.read[t * 2 - 4] = (t == 2 ? w.x : w.y).load(acquire);
  fence(Fence);
  w.read[t * 2 - 3] = (t == 2 ? w.y : w.x).load(acquire);
}

// Two increments both find 0.
void atomicity(Words& w, unsigned t) { w.read[t] = w.x.fetch_add(1, relaxed); }

// A waiter that is told twice: x = 1; y = 1; y = 0   ||   wait for y == 1. It may sleep through the first.
void flicker(Words& w, unsigned t) {
  if (t == 0) {
    w.y.store(1, release);
    w.y.store(0, release);
    w.z.store(1, release);
    w.y.store(1, release);
  } else {
    Checked::await(w.y, [](auto y) { return y == 1; }, acquire);
    w.read[0] = w.z.load(acquire);
  }
}

constexpr Litmus table[] = {
    {"SB", "both threads read the old value", 2, false, true,
     &make<store_buffering<relaxed, relaxed, no_fence>, both_old>},
    {"SB+rel+acq", "the same, with release and acquire", 2, false, true,
     &make<store_buffering<release, acquire, no_fence>, both_old>},
    {"SB+fences", "the same, with seq_cst fences", 2, false, false,
     &make<store_buffering<relaxed, relaxed, seq_cst>, both_old>},
    {"SB+rmw", "the same, looking by an RMW instead of a fence", 2, false, false, &make<store_buffering_rmw, both_old>},
    {"SB+failed-cas", "the same, looking by a CAS that fails", 2, false, true,
     &make<store_buffering_failed_cas, both_old>},
    {"MP", "the flag without the message", 2, false, true,
     &make<message_passing<relaxed, relaxed, no_fence, no_fence>, flag_without_message>},
    {"MP+rel", "only the writer orders", 2, false, true,
     &make<message_passing<release, relaxed, no_fence, no_fence>, flag_without_message>},
    {"MP+acq", "only the reader orders", 2, false, true,
     &make<message_passing<relaxed, acquire, no_fence, no_fence>, flag_without_message>},
    {"MP+rel+acq", "both order", 2, false, false,
     &make<message_passing<release, acquire, no_fence, no_fence>, flag_without_message>},
    {"MP+fences", "both order, by fences", 2, false, false,
     &make<message_passing<relaxed, relaxed, release, acquire>, flag_without_message>},
    {"MP+rel+acq-fence", "one by a fence", 2, false, false,
     &make<message_passing<release, relaxed, no_fence, acquire>, flag_without_message>},
    {"MP+rmw-between", "an RMW goes over the flag", 3, false, false,
     &make<release_sequence<true>, second_flag_without_message>},
    {"MP+store-between", "another thread's store goes over the flag", 3, false, true,
     &make<release_sequence<false>, second_flag_without_message>},
    {"LB", "both threads read the value that the other writes afterwards", 2, false, false,
     &make<load_buffering, [](const Words& w) { return saw(w, {1, 1}); }>},
    {"CoRR", "the new value, then the old one", 2, false, false, &make<coherence, flag_without_message>},
    {"2+2W", "the first writes win", 2, false, true, &make<two_plus_two_writes<relaxed, no_fence>, first_writes_win>},
    {"2+2W+rel", "the same, with release", 2, false, true,
     &make<two_plus_two_writes<release, no_fence>, first_writes_win>},
    {"2+2W+fences", "the same, with seq_cst fences", 2, false, false,
     &make<two_plus_two_writes<relaxed, seq_cst>, first_writes_win>},
    {"S", "an older write wins over one that followed from it", 2, false, true,
     &make<write_after_message<relaxed, relaxed>, older_write_wins>},
    {"S+rel+acq", "the same, with release and acquire", 2, false, false,
     &make<write_after_message<release, acquire>, older_write_wins>},
    {"WRC", "what a relaxed read saw is passed on by release and acquire", 3, false, false,
     &make<write_to_read_causality, [](const Words& w) { return saw(w, {1, 1, 0}); }>},
    {"IRIW", "two readers see two writes in different orders", 4, false, true,
     &make<independent_reads<no_fence>, [](const Words& w) { return saw(w, {1, 0, 1, 0}); }>},
    {"IRIW+fences", "the same, with seq_cst fences", 4, false, false,
     &make<independent_reads<seq_cst>, [](const Words& w) { return saw(w, {1, 0, 1, 0}); }>},
    {"RMW", "two increments find the same value", 2, false, false, &make<atomicity, both_old>},
    {"flicker-caught", "a waiter sees a value that is soon gone", 2, true, true,
     &make<flicker, [](const Words& w) { return saw(w, {0}); }>},
    {"flicker-missed", "and may also see only the next one", 2, true, true,
     &make<flicker, [](const Words& w) { return saw(w, {1}); }>},
};

}  // namespace

std::span<const Litmus> litmus_tests() { return table; }

}  // namespace fairlock::check
