// SPDX-License-Identifier: Apache-2.0
// Each test has a few threads over the words x, y and z, and asks about the values that they read and leave.
// The answers under `weak` are those of RC11 without load buffering.

#include "check/litmus.hpp"

#include "check/checked.hpp"

namespace fairlock::check {

namespace {

struct Words {
  CheckedMemory::atomic<std::uint64_t> x, y, z;
  CheckedMemory::tally<std::uint64_t> read[6];  // what the threads read, in the order of the program text

  template <class V>
  void fields(V&& visit) const {
    visit("x", x);
    visit("y", y);
    visit("z", z);
  }
};

// Body is void(Words&, unsigned thread). Reached is bool(const Words&), called when all threads have finished.
template <auto Body, auto Reached>
Program make() {
  Program p;
  p.construct = [](void* memory) { new (memory) Words; };
  p.body = [](void* memory, unsigned thread, unsigned) { Body(*static_cast<Words*>(memory), thread); };
  p.name_fields = [](const void* memory, Names& names) { name_fields(names, *static_cast<const Words*>(memory), ""); };
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

// The same, but the first thread reads y with an RMW that changes nothing, and the second writes y with an RMW.
void store_buffering_rmw(Words& w, unsigned t) {
  if (t == 0) {
    w.x.store(1, release);
    w.read[0] = w.y.fetch_add(0, acq_rel);
  } else {
    w.y.exchange(1, acq_rel);
    w.read[1] = w.x.load(acquire);
  }
}
// A cas that fails is only a load.
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

// A third thread overwrites the flag, with an RMW (which continues the release sequence) or a store (which does not).
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

// S: x = 2; y = 1   ||   read y; x = 1, and x == 2 is left although the second thread read y == 1
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

// Two increments both read 0.
void atomicity(Words& w, unsigned t) { w.read[t] = w.x.fetch_add(1, relaxed); }

// The value that a waiter waits for comes, goes and returns: y = 1; y = 0; z = 1; y = 1   ||   wait for y == 1; read z.
// The waiter may miss the first y = 1.
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
    {"SB+rmw", "the same, with an RMW that reads instead of a fence", 2, false, false,
     &make<store_buffering_rmw, both_old>},
    {"SB+failed-cas", "the same, with a cas that fails instead of a fence", 2, false, true,
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
    {"MP+rel+acq-fence", "both order, the reader by a fence", 2, false, false,
     &make<message_passing<release, relaxed, no_fence, acquire>, flag_without_message>},
    {"MP+rmw-between", "an RMW overwrites the flag", 3, false, false,
     &make<release_sequence<true>, second_flag_without_message>},
    {"MP+store-between", "another thread's store overwrites the flag", 3, false, true,
     &make<release_sequence<false>, second_flag_without_message>},
    {"LB", "both threads read the value that the other writes afterwards", 2, false, false,
     &make<load_buffering, [](const Words& w) { return saw(w, {1, 1}); }>},
    {"CoRR", "the new value, then the old one", 2, false, false, &make<coherence, flag_without_message>},
    {"2+2W", "the first writes win", 2, false, true, &make<two_plus_two_writes<relaxed, no_fence>, first_writes_win>},
    {"2+2W+rel", "the same, with release", 2, false, true,
     &make<two_plus_two_writes<release, no_fence>, first_writes_win>},
    {"2+2W+fences", "the same, with seq_cst fences", 2, false, false,
     &make<two_plus_two_writes<relaxed, seq_cst>, first_writes_win>},
    {"S", "an older write wins over a write that depends on it", 2, false, true,
     &make<write_after_message<relaxed, relaxed>, older_write_wins>},
    {"S+rel+acq", "the same, with release and acquire", 2, false, false,
     &make<write_after_message<release, acquire>, older_write_wins>},
    {"WRC", "release and acquire do not pass on what a relaxed read saw", 3, false, false,
     &make<write_to_read_causality, [](const Words& w) { return saw(w, {1, 1, 0}); }>},
    {"IRIW", "two readers see two writes in different orders", 4, false, true,
     &make<independent_reads<no_fence>, [](const Words& w) { return saw(w, {1, 0, 1, 0}); }>},
    {"IRIW+fences", "the same, with seq_cst fences", 4, false, false,
     &make<independent_reads<seq_cst>, [](const Words& w) { return saw(w, {1, 0, 1, 0}); }>},
    {"RMW", "two increments read the same value", 2, false, false, &make<atomicity, both_old>},
    {"flicker-caught", "a waiter sees a value that is soon overwritten", 2, true, true,
     &make<flicker, [](const Words& w) { return saw(w, {0}); }>},
    {"flicker-missed", "a waiter misses this value and sees the next one", 2, true, true,
     &make<flicker, [](const Words& w) { return saw(w, {1}); }>},
};

}  // namespace

std::span<const Litmus> litmus_tests() { return table; }

}  // namespace fairlock::check
