// SPDX-License-Identifier: Apache-2.0
// Family `fork-join`: phases. In each, every thread does its episodes, and then all meet before the next one begins;
// with more threads than processors the slowest of them decides.
#include <barrier>

#include "contest.hpp"
#include "family.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  Wanted wanted(arguments, Settings(arguments));
  wanted.sections.ask(arguments);
  const auto episodes = arguments.number("--episodes", std::uint64_t{100}, 1, 1'000'000'000);
  arguments.finish();

  Crew crew(wanted.settings);
  Contest contest(wanted, crew);
  const auto members = contest.join_all();
  for (Member* const member : members) member->quota = episodes;
  bool last = false;  // decided where all have met, so that nobody waits for one who has gone
  const auto decide = [&]() noexcept { last = crew.over().load(); };
  std::barrier meeting(wanted.settings.threads, decide);
  const auto sample = crew.measure(
      [&](unsigned i) {
        do {
          contest.lock().work(*members[i]);
          meeting.arrive_and_wait();
        } while (!last);
      },
      wanted.sections.second_window);
  contest.check();
  json.number("phases", sample.rate(sample.episodes()) / static_cast<double>(episodes * wanted.settings.threads));
  contest.write(json, sample);
}

}  // namespace

const Family fork_join{"fork-join", "phases of episodes, and all threads meet after each", run};

}  // namespace bench
