// Part `contended`: how many pairs of acquire and release threads get done together when all want the lock all the
// time.
#include "crew.hpp"
#include "parts.hpp"
#include "roster.hpp"

namespace bench {

bool measure_contended(const Options& options, Progress& progress, Json& json) {
  const Part& part = options.contended;
  const auto cpus = usable_cpus();
  // Without a processor for each, a waiter that only spins keeps the owner from running.
  const auto subjects = locks(options, {options.threads > cpus.size() ? Patient::name : Eager::name});
  if (subjects.empty()) return false;
  const double round_time = part.seconds / part.rounds;
  std::vector<std::vector<double>> rates(subjects.size()), fairness(subjects.size());
  std::uint64_t trials = 0, disturbed = 0;
  Crew crew(options.threads, cpus);
  for (unsigned round = 0; round < part.rounds; ++round) {
    one_round(round, subjects.size(), [&](std::size_t i) {
      const auto outcome = crew.contend(*subjects[i], Seconds(round_time / static_cast<double>(subjects.size())));
      rates[i].push_back(outcome.pairs_per_second);
      fairness[i].push_back(outcome.slowest_to_fastest);
      trials += outcome.trials;
      disturbed += outcome.disturbed;
    });
    progress.spent(part, round_time);
  }
  json.object(part.name, [&] {
    write_plan(json, part);
    json.number("threads", std::uint64_t{options.threads});
    json.number("disturbed", static_cast<double>(disturbed) / static_cast<double>(trials));
    write_subjects(json, subjects, [&](std::size_t i) {
      json.numbers("pairs_per_second", rates[i]);
      json.numbers("slowest_to_fastest", fairness[i]);
    });
  });
  return true;
}

}  // namespace bench
