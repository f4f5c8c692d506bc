// SPDX-License-Identifier: Apache-2.0
// The algorithms of the catalogue as the Python types use them: functions on a piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fairlock/catalogue.hpp>
#include <fairlock/statistics.hpp>

#include "wait.hpp"

namespace fairlock::python {

using DefaultPlatform = CountingNative<SpinThenPark>;

struct Knobs {
  std::uint64_t permits = 1;  // of a semaphore
  unsigned platoon = 10;      // of a capacitor
  double skip = 0;
};

// A lock is a semaphore of one permit.
struct Algorithm {
  const char* name;
  const char* waiting;
  std::size_t bytes, alignment;
  std::uint64_t max;  // permits
  double skip;        // of a capacitor, unless told otherwise; below 0: it has neither platoon nor skip
  void (*make)(void*, const Knobs&);
  void (*renew)(void*, std::uint64_t);  // as new, with so many permits: for the child of a fork
  bool (*try_acquire)(void*);
  bool (*acquire)(void*, const Patience&);  // detached; false: it gave up
  void (*release)(void*, std::uint64_t);
  std::int64_t (*permits)(const void*);
};

// The algorithm of that name and policy, or null and an exception that tells which are offered. No policy: the default
// one.
const Algorithm* lock_algorithm(const char* name, const char* waiting);
const Algorithm* semaphore_algorithm(const char* name, const char* waiting);

// Turns are longer than in C++, where an acquisition takes a tenth of the time. The quota usually ends them: by count,
// turns are worth the same to all threads; by the clock they are not. With a GIL, one thread runs at a time, so the
// line does not adapt: waiters woken together would only wait for the GIL together.
inline constexpr unsigned fair_quota = 512;
inline constexpr std::uint64_t fair_patience = 125'000;  // nanoseconds
template <class P>
using PythonFairLock =
    FairLock<P, FairOptions{.quota = fair_quota, .patience = fair_patience, .adapts = free_threaded}>;
template <class P>
using PythonFairSemaphore =
    FairSemaphore<P, FairSemaphoreOptions{.quota = fair_quota, .patience = fair_patience, .adapts = free_threaded}>;

// What Lock() and Semaphore() are, for paths that must not go through a pointer.
using FairMutex = Mutex<PythonFairLock<DefaultPlatform>, false>;
using FairCounter = PythonFairSemaphore<DefaultPlatform>;
extern const Algorithm fair_lock;
extern const Algorithm fair_semaphore;

// The gate of a capacitor around a lock of Python's own making.
template <class P>
using GateSemaphore = TwaSemaphore<P, TwaSemaphoreOptions{.fast_path = true}>;
extern const Algorithm gate;

}  // namespace fairlock::python
