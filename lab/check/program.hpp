// SPDX-License-Identifier: Apache-2.0
// Program: the code of a scenario, and what the checker must know about it. Config: the bounds of a check.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fairlock/platform/domain.hpp>
#include <fairlock/properties.hpp>

#include "runtime/names.hpp"

namespace fairlock::check {

// Limits of the checker: beyond them, there are too many states to explore.
inline constexpr unsigned max_threads = 4;
inline constexpr unsigned max_locks = 2;

inline constexpr unsigned any_number = 255;  // of permits: threads enter and do not leave

struct Mutation;  // mutant.hpp

struct Config {
  unsigned threads = 2;
  unsigned episodes = 1;  // of each thread
  std::uint32_t slots = 1;
  bool weak = false;  // memory
  DomainOptions domain{};
  const Mutation* mutation = nullptr;
};

// The fixture is the memory that the threads share, besides the domain. It begins with its locks.
struct Program {
  void (*construct)(void* fixture) = nullptr;
  void (*body)(void* fixture, unsigned thread, unsigned episodes) = nullptr;
  void (*name_fields)(const void* fixture, runtime::Names&) = nullptr;
  bool (*locked)(const void* fixture) = nullptr;  // called when all threads have finished: true is a violation
  std::size_t fixture_size = 0, lock_size = 0;    // bytes
  unsigned locks = 1;
  unsigned permits = 1;  // how many threads may be inside at once
  Order order = Order::barging;
  int bypass = 0;
  bool waits_for_deadlines = false;  // a thread may have nothing to wait for except a deadline, which then passes
  bool symmetric = false;            // all threads do the same, and the lock treats them alike
  bool starts_near_limits = false;   // counters start just below their limits
};

// With so few threads and episodes, a bound on bypass of the first waiter in line bounds the bypass of every waiter.
constexpr Order checked_order(Order order) { return order == Order::at_head ? Order::bounded : order; }

}  // namespace fairlock::check
