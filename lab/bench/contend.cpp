// SPDX-License-Identifier: Apache-2.0
// Family `contend`: threads that acquire a lock, do something, release it and do something else, all the time.
#include "contest.hpp"
#include "family.hpp"

namespace bench {
namespace {

void run(Arguments& arguments, Json& json) {
  Wanted wanted(arguments, Settings(arguments));
  wanted.sections.ask(arguments);
  arguments.finish();

  Crew crew(wanted.settings);
  Contest contest(wanted, crew);
  const auto members = contest.join_all();
  const auto sample =
      crew.measure([&](unsigned i) { contest.lock().work(*members[i]); }, wanted.sections.second_window);
  contest.check();
  contest.write(json, sample);
}

}  // namespace

const Family contend{"contend", "threads that want one lock all the time", run};

}  // namespace bench
