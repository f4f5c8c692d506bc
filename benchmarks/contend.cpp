// Family `contend`: threads that acquire a lock, do something, release it and do something else, all the time.
#include "contest.hpp"
#include "family.hpp"

namespace bench {

const Family contend{"contend", "threads that want one lock all the time", [](Arguments& arguments, Json& json) {
  const Settings settings(arguments);
  Wanted wanted(arguments, settings);
  wanted.sections.ask_for_work(arguments);
  wanted.sections.ask_for_notes(arguments);
  arguments.finish();

  Crew crew(settings);
  Contest contest(wanted, crew);
  std::vector<Member*> members;
  for (unsigned i = 0; i < settings.threads; ++i) members.push_back(&contest.join(i));
  const auto sample = crew.measure([&](unsigned i) { contest.lock().work(*members[i]); });
  contest.check();
  crew.write_done(json, sample);
  contest.write(json);
  crew.write_spent(json, sample);
  wanted.write(json);
}};

}  // namespace bench
