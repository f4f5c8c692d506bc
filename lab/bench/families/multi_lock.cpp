// SPDX-License-Identifier: Apache-2.0
// Family `multi-lock`: one thread, the leader, acquires several locks and holds all of them; every other thread
// contends for one of them. If a lock has one queue element for each thread, all others wait on the leader's element.
#include <deque>

#include "families/family.hpp"
#include "harness/lock_trial.hpp"

namespace bench {
namespace {

// Add the leader to every lock, so that each of its episodes lies within the critical section of the one before. Return
// the outermost contender.
Contender& add_leader(std::vector<std::unique_ptr<LockTrial>>& trials, Crew& crew, const Sections& sections,
                      std::deque<std::atomic<std::uint64_t>>& tallies) {
  Contender& outermost = trials.front()->join(0, crew.tally(0), sections);
  Contender* outer = &outermost;
  Sections inner = sections;
  inner.non_critical = 0;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    outer->plain = false;
    outer->nested = &trials[i]->loop();
    outer->nested_contender = &trials[i]->join(0, tallies.emplace_back(0), inner);
    outer = outer->nested_contender;
    outer->quota = 1;
  }
  return outermost;
}

void run(Arguments& arguments, Json& json) {
  TrialOptions options(arguments, CommonOptions(arguments));
  options.sections.parse_work(arguments);
  const auto held = arguments.number("--locks-held", std::uint64_t{5}, 1, 64);
  arguments.finish();

  Crew crew(options.common);
  std::vector<std::unique_ptr<LockTrial>> trials;
  for (std::uint64_t i = 0; i < held; ++i) trials.push_back(std::make_unique<LockTrial>(options, crew));
  const auto trial_of = [&](unsigned thread) -> LockTrial& { return *trials[thread == 0 ? 0 : (thread - 1) % held]; };
  std::deque<std::atomic<std::uint64_t>> tallies;
  std::vector<Contender*> contenders{&add_leader(trials, crew, options.sections, tallies)};
  for (unsigned i = 1; i < options.common.threads; ++i) contenders.push_back(&trial_of(i).join(i));
  const auto sample = crew.measure([&](unsigned i) { trial_of(i).loop().contend(*contenders[i]); });
  for (const auto& trial : trials) trial->check();
  json.number("leader", sample.rate(sample.counts[0]));
  json.number("locks_held", held);
  trials.front()->write(json, sample);
}

}  // namespace

const Family multi_lock{"multi-lock", "a thread that holds several contended locks at the same time", run};

}  // namespace bench
