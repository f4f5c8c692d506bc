// SPDX-License-Identifier: Apache-2.0
// Family `atomic-exchange`: threads exchange a structure of five integers with a shared one. (Hapax paper, section
// 6.1.) The lock is inside libatomic.
//
//   --non-critical N   after each exchange, advance the thread's generator by a random number of steps below N
#ifdef FAIRLOCK_BENCH_ATOMIC  // libatomic is available

#include <algorithm>

#include "families/family.hpp"
#include "families/library_family.hpp"
#include "harness/errors.hpp"
#include "harness/generators.hpp"
#include "library/five_integers.hpp"

namespace bench {
namespace {

struct alignas(sector) Exchanger {
  FiveIntegers own;
  Generator generator;

  Exchanger(unsigned thread, std::uint64_t seed)
      : own(static_cast<std::int32_t>(thread + 1)), generator(Generator::Kind::xoroshiro128plus, seed + thread) {}
};

// At the beginning, the shared structure is number 0, and thread i has number i + 1. Exchanges only move them, so at
// the end each must exist exactly once, and be intact.
bool all_intact(std::vector<FiveIntegers> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.values[0] < b.values[0]; });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].intact() || all[i].values[0] != static_cast<std::int32_t>(i)) return false;
  return true;
}

void run(Arguments& arguments, Json& json) {
  const CommonOptions options(arguments);
  const auto non_critical = arguments.number("--non-critical", std::uint64_t{100}, 0, UINT32_MAX);
  arguments.finish();

  SharedFiveIntegers shared;
  std::vector<Exchanger> exchangers;
  for (unsigned i = 0; i < options.threads; ++i) exchangers.emplace_back(i, options.seed);
  Crew crew(options);
  const Sample sample = repeat(crew, [&](unsigned i) {
    return [&shared, &self = exchangers[i], non_critical] {
      self.own = shared.value.exchange(self.own);
      if (non_critical != 0) self.generator.advance(self.generator.below(non_critical));
    };
  });

  std::vector<FiveIntegers> all{shared.value.load()};
  for (const auto& exchanger : exchangers) all.push_back(exchanger.own);
  if (!all_intact(std::move(all))) fail("two exchanges overlapped: a structure is torn or lost");
  crew.write_episodes(json, sample);
  json.text("exclusion", "witnessed");
  crew.write_costs(json, sample);
  write_preloaded(json);
  write_mutexes(json, {"atomic-exchange"});
}

}  // namespace

const Family atomic_exchange{"atomic-exchange", "exchanges of five integers with a std::atomic", run};

}  // namespace bench

#endif
