// Part `uncontended`: what an acquire and its release cost when nobody else wants the lock.
#include "alone.hpp"
#include "crew.hpp"
#include "parts.hpp"
#include "roster.hpp"

namespace bench {

bool measure_uncontended(const Options& options, Progress& progress, Json& json) {
  const Part& part = options.uncontended;
  const auto subjects = locks(options, {Eager::name});
  if (subjects.empty()) return false;
  const double round_time = part.seconds / part.rounds;
  std::vector<std::vector<double>> nanoseconds(subjects.size());
  Crew others(2, usable_cpus());  // asleep: see there what for
  for (unsigned round = 0; round < part.rounds; ++round) {
    one_round(round, subjects.size(), [&](std::size_t i) {
      nanoseconds[i].push_back(alone(*subjects[i], Seconds(round_time / static_cast<double>(subjects.size()))));
    });
    progress.spent(part, round_time);
  }
  json.object(part.name, [&] {
    write_plan(json, part);
    write_subjects(json, subjects, [&](std::size_t i) { json.numbers("uncontended_ns", nanoseconds[i]); });
  });
  return true;
}

}  // namespace bench
