// SPDX-License-Identifier: Apache-2.0
// Family `invalidation-diameter`: one thread adds to a word, and the others read it all the time. The readers slow the
// writer down just as the waiters of a ticket lock slow down the owner's release. (TWA paper, Figure 1.)
#include "families/family.hpp"
#include "harness/crew.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  const CommonOptions options(arguments);
  arguments.finish();

  Crew crew(options);
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
  sample.counts.resize(1);  // the costs are those of one addition by the writer
  json.number("elapsed", sample.elapsed);
  json.number("episodes", counts[0]);
  json.number("throughput", sample.rate(counts[0]));
  json.numbers("counts", counts);
  crew.write_costs(json, sample);
}

}  // namespace

const Family invalidation_diameter{"invalidation-diameter", "one thread writes a word that the others read", run};

}  // namespace bench
