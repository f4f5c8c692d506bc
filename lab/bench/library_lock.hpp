// SPDX-License-Identifier: Apache-2.0
// Families whose lock is inside a library: threads repeat an episode that takes it, or perhaps takes none.
#pragma once

#include <string>
#include <vector>

#include "crew.hpp"
#include "json.hpp"

namespace bench {

// Every thread repeats the function that episode_of(its number) gives.
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

// Which lock was preloaded in the place of glibc's, if any, and how it waits, in its own words: so that whoever asked
// for it knows that this sample is of it.
void write_preloaded(Json& json);

// How many mutexes an episode takes, from a fairlock_bench_probe with these arguments. None: there is nothing to
// replace, so the workload decides nothing on this machine. Writes mutexes_per_episode, decidable, and if it is not,
// the reason.
void write_mutexes(Json& json, const std::vector<std::string>& arguments);

}  // namespace bench
