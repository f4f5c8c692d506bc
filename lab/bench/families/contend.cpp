// SPDX-License-Identifier: Apache-2.0
// Family `contend`: threads acquire a lock, work, release it, and work outside, again and again.
#include "families/family.hpp"
#include "harness/lock_trial.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  TrialOptions options(arguments, CommonOptions(arguments));
  options.sections.parse(arguments);
  arguments.finish();

  Crew crew(options.common);
  LockTrial trial(options, crew);
  const auto contenders = trial.join_all();
  const auto sample =
      crew.measure([&](unsigned i) { trial.loop().contend(*contenders[i]); }, options.sections.second_window);
  trial.check();
  trial.write(json, sample);
}

}  // namespace

const Family contend{"contend", "threads that acquire one lock again and again", run};

}  // namespace bench
