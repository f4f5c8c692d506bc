// SPDX-License-Identifier: Apache-2.0
// Family `multi-lock`: one thread, the leader, acquires several locks and holds them all; every other thread contends
// for one of them. Where a lock has one queue element for each thread, all of them wait on the leader's.
#include <deque>

#include "contest.hpp"
#include "family.hpp"

namespace bench {
namespace {

// The leader's places at the locks: the episode at each lies within the critical section of the one before.
std::vector<Member*> nest(std::vector<std::unique_ptr<Contest>>& contests, Crew& crew, const Sections& sections,
                          std::deque<std::atomic<std::uint64_t>>& tallies) {
  std::vector<Member*> places;
  for (auto& contest : contests) {
    if (places.empty()) {
      places.push_back(&contest->join(0, crew.tally(0), sections));
      continue;
    }
    Sections inner = sections;
    inner.non_critical = 0;
    places.push_back(&contest->join(0, tallies.emplace_back(0), inner));
    places.back()->quota = 1;
    Member& outer = *places[places.size() - 2];
    outer.plain = false;
    outer.nested = &contest->lock();
    outer.nested_member = places.back();
  }
  return places;
}

void run(Arguments& arguments, Json& json) {
  Wanted wanted(arguments, Settings(arguments));
  wanted.sections.ask_for_work(arguments);
  const auto held = arguments.number("--locks-held", std::uint64_t{5}, 1, 64);
  arguments.finish();

  Crew crew(wanted.settings);
  std::vector<std::unique_ptr<Contest>> contests;
  for (std::uint64_t i = 0; i < held; ++i) contests.push_back(std::make_unique<Contest>(wanted, crew));
  std::deque<std::atomic<std::uint64_t>> tallies;
  std::vector<Member*> members{nest(contests, crew, wanted.sections, tallies).front()};
  for (unsigned i = 1; i < wanted.settings.threads; ++i) members.push_back(&contests[(i - 1) % held]->join(i));
  const auto sample =
      crew.measure([&](unsigned i) { contests[i == 0 ? 0 : (i - 1) % held]->lock().work(*members[i]); });
  for (const auto& contest : contests) contest->check();
  json.number("leader", sample.rate(sample.counts[0]));
  json.number("locks_held", held);
  contests.front()->write(json, sample);
}

}  // namespace

const Family multi_lock{"multi-lock", "a thread that holds several contended locks at once", run};

}  // namespace bench
