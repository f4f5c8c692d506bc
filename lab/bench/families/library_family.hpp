// SPDX-License-Identifier: Apache-2.0
// The functions that families with a lock inside a library share. Their threads repeat an episode, in which the library
// may acquire its lock.
#pragma once

#include <string>
#include <vector>

#include "harness/crew.hpp"
#include "harness/json.hpp"

namespace bench {

// Take a sample in which thread i repeats the function that episode_of(i) returns.
template <class F>
Sample repeat(Crew& crew, F&& episode_of) {
  return crew.measure([&](unsigned i) {
    auto episode = episode_of(i);
    auto& tally = crew.tally(i);
    for (std::uint64_t done = 1; !crew.over().load(std::memory_order_relaxed); ++done) {
      episode();
      tally.store(done, std::memory_order_relaxed);
    }
  });
}

// Write which lock was preloaded in place of glibc's, if any, and its waiting policy. The names come from the preloaded
// object, so a user who asked for a lock can be sure that the sample is of this lock.
void write_preloaded(Json& json);

// Run fairlock_bench_probe with these arguments to count the mutexes that an episode acquires. If it acquires none,
// there is nothing to replace, so the workload decides nothing on this machine. Writes `mutexes_per_episode`,
// `decidable` and, if that is false, the reason.
void write_mutexes(Json& json, const std::vector<std::string>& arguments);

}  // namespace bench
