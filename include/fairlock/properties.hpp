// SPDX-License-Identifier: Apache-2.0
// What the catalogue knows of a lock beyond its type: the rows of Table 2 in the Hapax paper, and ours.
// Whatever the compiler can tell (sizes, triviality, try_acquire, context) is not here but derived in catalogue.hpp.
#pragma once

namespace fairlock {
inline namespace v0 {

enum class Order {
  fifo,     // no arrival later than mine enters before me
  bounded,  // each other thread bypasses me at most `bypass` times
  // The first in line is passed by at most `bypass` times in all, and so a waiter with k before it at most k + 1
  // times that.
  at_head,
  while_saturated,  // the same, but only while the running threads alone would keep the lock busy
  barging,          // whoever comes at the right moment: unbounded bypass
  lifo,             // the newest first: unbounded bypass, on purpose
  platoon,    // whoever arrives more than `bypass` places after me enters after me: at most `bypass` bypass me in all
  long_term,  // fair in the long run, by chance: no bound on one wait
};

constexpr bool bounds_bypass(Order order) {
  return order == Order::fifo || order == Order::bounded || order == Order::at_head || order == Order::platoon;
}

// What the lists, the tables and the results files call an order.
constexpr const char* name_of(Order order) {
  switch (order) {
    case Order::fifo: return "fifo";
    case Order::bounded: return "bounded";
    case Order::at_head: return "at-head";
    case Order::while_saturated: return "while-saturated";
    case Order::barging: return "barging";
    case Order::lifo: return "lifo";
    case Order::platoon: return "platoon";
    case Order::long_term: return "long-term";
  }
  return "?";
}

struct Properties {
  const char* name;
  const char* source;    // where the algorithm comes from
  const char* spinning;  // where waiters look: L(ocal)/U(nknown) home + P(rivate)/S(emi-private)/G(lobal)
  Order order = Order::fifo;
  int bypass = 0;        // Order::bounded, at_head, while_saturated and platoon: see there
  unsigned platoon = 0;  // of a capacitor: how many threads it admits together
  bool constant_time_release = true;
  bool on_stack = false;  // queue elements could live on the stack
  bool nodes_circulate = false;
  bool thread_oblivious = true;       // another thread may release
  bool waiting_array = false;         // waits in the domain's slots
  bool allocates = false;             // dynamic memory, and so thread exit has work to do
  bool numbers_threads = false;       // takes a small number for each thread, to be given back when the thread ends
  bool parkable = true;               // every wait ends with a write to the word waited for
  bool release_touches_lock = false;  // after the store that frees: the next owner must not destroy the lock at once
  unsigned max_threads = 0;           // in line at once; 0: no bound
  const char* space = "S*L";          // S lock, E element, L locks, T threads, A held + waiting
  const char* paper_branches = "-";   // Table 2's own figures, as printed there
  const char* paper_misses = "-";
  const char* paper_invalidations = "-";
};

}  // namespace v0
}  // namespace fairlock
