// SPDX-License-Identifier: Apache-2.0
// Family `atomic-exchange`: threads that exchange a structure of five integers with a shared one. (Hapax paper, section
// 6.1.) The lock is libatomic's.
//
//   --non-critical N   then up to N steps of one's own generator, at random
#ifdef FAIRLOCK_BENCH_ATOMIC  // libatomic is there

#include "exchange.hpp"

#include <algorithm>

#include "family.hpp"
#include "generators.hpp"
#include "library_lock.hpp"

namespace bench {
namespace {

struct alignas(sector) Exchanger {
  Five mine;
  Generator generator;

  Exchanger(unsigned thread, std::uint64_t seed)
      : mine(static_cast<std::int32_t>(thread + 1)), generator(Generator::Kind::xoroshiro128plus, seed + thread) {}
};

// The shared one begins as number 0, that of the threads as 1, 2, ... and they are only ever passed on: in the end each
// must be there once, and whole.
bool all_there(std::vector<Five> all) {
  std::sort(all.begin(), all.end(), [](const Five& a, const Five& b) { return a.values[0] < b.values[0]; });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all[i].whole() || all[i].values[0] != static_cast<std::int32_t>(i)) return false;
  return true;
}

}  // namespace

const Family atomic_exchange{"atomic-exchange", "std::atomic of five integers", [](Arguments& arguments, Json& json) {
                               const Settings settings(arguments);
                               const auto non_critical =
                                   arguments.number("--non-critical", std::uint64_t{100}, 0, UINT32_MAX);
                               arguments.finish();

                               Exchanged shared;
                               std::vector<Exchanger> exchangers;
                               for (unsigned i = 0; i < settings.threads; ++i)
                                 exchangers.emplace_back(i, settings.seed);
                               Crew crew(settings);
                               const Sample sample = repeat(crew, [&](unsigned i) {
                                 return [&shared, &me = exchangers[i], non_critical] {
                                   me.mine = shared.five.exchange(me.mine);
                                   if (non_critical != 0) me.generator.advance(me.generator.below(non_critical));
                                 };
                               });

                               std::vector<Five> all{shared.five.load()};
                               for (const auto& one : exchangers) all.push_back(one.mine);
                               if (!all_there(std::move(all)))
                                 fail("two exchanges got into each other: a structure is torn, or lost");
                               crew.write_done(json, sample);
                               json.text("exclusion", "witnessed");
                               crew.write_spent(json, sample);
                               write_preloaded(json);
                               write_mutexes(json, {"atomic-exchange"});
                             }};

}  // namespace bench

#endif
