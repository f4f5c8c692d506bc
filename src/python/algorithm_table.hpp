// SPDX-License-Identifier: Apache-2.0
// The algorithms that Python offers: each entry of the catalogue under each waiting policy, as a table of functions on
// a block of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fairlock/catalogue.hpp>
#include <fairlock/statistics.hpp>
#include <fairlock/waiting/policies.hpp>

#include "interruptible_wait.hpp"

namespace fairlock::python {

using DefaultPlatform = CountingNative<DefaultPolicy>;

struct Knobs {
  std::uint64_t permits = 1;  // semaphores
  unsigned platoon = 10;      // capacitors
  double skip = 0;            // capacitors
};

// A lock is treated as a semaphore of one permit.
struct Algorithm {
  const char* name;
  const char* policy;  // the waiting policy
  std::size_t bytes, alignment;
  std::uint64_t max_permits;
  double default_skip;  // for a capacitor; negative: the algorithm has neither platoon nor skip
  void (*construct)(void*, const Knobs&);
  void (*reset)(void*, std::uint64_t permits);  // sets the permits and empties the line, for the child of a fork
  bool (*try_acquire)(void*);
  bool (*acquire)(void*, const InterruptibleWait&);  // called detached; false: the thread gave up
  void (*release)(void*, std::uint64_t);
  std::int64_t (*permits)(const void*);
};

// Returns the algorithm with this name and policy. Null: there is none, and an exception that lists the valid choices
// is set.
const Algorithm* lock_algorithm(const char* name, const char* policy);
const Algorithm* semaphore_algorithm(const char* name, const char* policy);

// Turns are longer than in C++, where an acquisition takes a tenth of the time. The quota usually ends a turn before
// the patience does, because turns of equal counts give all threads an equal share, and turns of equal times do not.
// With a GIL, only one thread runs at a time, so the line does not adapt: several woken waiters would all wait for the
// GIL.
inline constexpr unsigned fair_quota = 512;
inline constexpr std::uint64_t fair_patience = 125'000;  // nanoseconds
template <class P>
using PythonFairLock =
    FairLock<P, FairOptions{.quota = fair_quota, .patience = fair_patience, .adapts = free_threaded}>;
template <class P>
using PythonFairSemaphore =
    FairSemaphore<P, FairSemaphoreOptions{.quota = fair_quota, .patience = fair_patience, .adapts = free_threaded}>;

// The algorithms of Lock() and Semaphore(). The fast paths call these types directly, not through a pointer.
using FairMutex = Mutex<PythonFairLock<DefaultPlatform>, false>;
using FairCounter = PythonFairSemaphore<DefaultPlatform>;
extern const Algorithm fair_lock;
extern const Algorithm fair_semaphore;

// The gate of a Capacitor.
template <class P>
using GateSemaphore = TwaSemaphore<P, TwaSemaphoreOptions{.fast_path = true}>;
extern const Algorithm gate;

}  // namespace fairlock::python
