// SPDX-License-Identifier: Apache-2.0
// Family `invalidation-diameter`: one thread adds to a word that the others read all the time. How much they slow it
// down is what every waiter of a ticket lock does to the owner's release. (TWA paper, Figure 1.)
#include "crew.hpp"
#include "family.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  const Settings settings(arguments);
  arguments.finish();

  Crew crew(settings);
  struct alignas(sector) {
    std::atomic<std::uint64_t> value{0};
  } word;
  Sample sample = crew.measure([&](unsigned i) {
    auto& tally = crew.tally(i);
    for (std::uint64_t done = 1; !crew.over().load(std::memory_order_relaxed); ++done) {
      if (i == 0) word.value.fetch_add(1, std::memory_order_relaxed);
      else asm volatile("" : : "r"(word.value.load(std::memory_order_relaxed)));
      tally.store(done, std::memory_order_relaxed);
    }
  });
  const auto counts = sample.counts;
  sample.counts.resize(1);  // the writer's is what counts
  json.number("elapsed", sample.elapsed);
  json.number("episodes", counts[0]);
  json.number("throughput", sample.rate(counts[0]));
  json.numbers("counts", counts);
  crew.write_spent(json, sample);
}

}  // namespace

const Family invalidation_diameter{"invalidation-diameter", "one writer of a word, and readers", run};

}  // namespace bench
