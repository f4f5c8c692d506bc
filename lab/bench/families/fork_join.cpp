// SPDX-License-Identifier: Apache-2.0
// Family `fork-join`: phases. In each phase every thread runs its episodes and then waits for all the others. So the
// slowest thread decides how long a phase takes, above all with more threads than processors.
#include <barrier>

#include "families/family.hpp"
#include "harness/lock_trial.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  TrialOptions options(arguments, CommonOptions(arguments));
  options.sections.parse(arguments);
  const auto episodes = arguments.number("--episodes", std::uint64_t{100}, 1, 1'000'000'000);
  arguments.finish();

  Crew crew(options.common);
  LockTrial trial(options, crew);
  const auto contenders = trial.join_all();
  for (Contender* const contender : contenders) contender->quota = episodes;
  // The last thread to arrive decides for all whether this was the last phase. If each thread checked over()
  // itself, one thread could end while another waits for it at the barrier.
  bool last = false;
  const auto decide = [&]() noexcept { last = crew.over().load(); };
  std::barrier meeting(options.common.threads, decide);
  const auto sample = crew.measure(
      [&](unsigned i) {
        do {
          trial.loop().contend(*contenders[i]);
          meeting.arrive_and_wait();
        } while (!last);
      },
      options.sections.second_window);
  trial.check();
  json.number("phases", sample.rate(sample.episodes()) / static_cast<double>(episodes * options.common.threads));
  trial.write(json, sample);
}

}  // namespace

const Family fork_join{"fork-join", "phases of episodes; all threads meet after each phase", run};

}  // namespace bench
