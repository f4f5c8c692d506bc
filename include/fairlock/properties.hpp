// SPDX-License-Identifier: Apache-2.0
// Properties: what the catalogue says about a lock beyond its type. These are the rows of Table 2 in the Hapax paper,
// and some more. catalogue.hpp derives what the compiler knows: sizes, triviality, try_acquire and context.
#pragma once

namespace fairlock {
inline namespace v0 {

enum class Order {
  fifo,     // no later arrival enters before a waiter
  bounded,  // each other thread bypasses a waiter at most `bypass` times
  // At most `bypass` arrivals bypass the head of the line. So at most (k + 1) * `bypass` bypass a waiter that has k
  // waiters before it.
  at_head,
  while_saturated,  // the same, but only while the running threads alone would keep the lock busy
  barging,          // a thread that comes at the right moment enters: no bound on bypass
  lifo,             // the newest waiter enters first, on purpose: no bound on bypass
  platoon,          // a thread that arrives more than `bypass` places after a waiter enters after it
  long_term,        // fair in the long run, by chance: no bound on one wait
};

constexpr bool bounds_bypass(Order order) {
  return order == Order::fifo || order == Order::bounded || order == Order::at_head || order == Order::platoon;
}

// The name of an order in lists, tables and results files.
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
  const char* spinning;  // where waiters look: a L(ocal) or U(nknown) home + P(rivate), S(emi-private) or G(lobal)
  Order order = Order::fifo;
  int bypass = 0;        // the bound in Order::bounded, at_head, while_saturated and platoon
  unsigned platoon = 0;  // how many threads a capacitor admits together
  bool constant_time_release = true;
  bool on_stack = false;  // queue elements could live on the stack
  bool nodes_circulate = false;
  bool thread_oblivious = true;  // another thread may release
  bool waiting_array = false;    // waiters wait in the domain's slots
  bool allocates = false;        // the lock allocates memory, and frees it when the thread exits
  bool numbers_threads = false;  // the lock gives each thread a small number until the thread exits
  bool parkable = true;          // a waiter may sleep: every wait ends with a write to the word that it watches
  // Whether release touches the lock after the store that frees it. Then the next owner must not destroy it at once.
  bool release_touches_lock = false;
  unsigned max_threads = 0;          // in line at once; 0: no bound
  const char* space = "S*L";         // S lock, E element, L locks, T threads, A held + waiting
  const char* paper_branches = "-";  // the figures that Table 2 prints
  const char* paper_misses = "-";
  const char* paper_invalidations = "-";
};

}  // namespace v0
}  // namespace fairlock
