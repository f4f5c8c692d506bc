// Part `semaphores`: semaphores with one permit, used as a mutex; alone, and by threads that contend.
#include "alone.hpp"
#include "crew.hpp"
#include "parts.hpp"
#include "roster.hpp"

namespace bench {

bool measure_semaphores(const Options& options, Progress& progress, Json& json) {
  const Part& part = options.semaphores;
  const auto cpus = usable_cpus();
  const auto subjects = options.threads > cpus.size() ? semaphores(options, {Patient::name})
                                                      : semaphores(options, {Eager::name, Patient::name});
  if (subjects.empty()) return false;
  const double round_time = part.seconds / part.rounds;
  const double time = round_time / static_cast<double>(subjects.size());
  std::vector<std::vector<double>> nanoseconds(subjects.size()), rates(subjects.size()), fairness(subjects.size());
  Crew crew(options.threads, cpus);
  for (unsigned round = 0; round < part.rounds; ++round) {
    one_round(round, subjects.size(), [&](std::size_t i) {
      nanoseconds[i].push_back(alone(*subjects[i], Seconds(0.25 * time)));
    });
    one_round(round, subjects.size(), [&](std::size_t i) {
      const auto outcome = crew.contend(*subjects[i], Seconds(0.75 * time));
      rates[i].push_back(outcome.pairs_per_second);
      fairness[i].push_back(outcome.slowest_to_fastest);
    });
    progress.spent(part, round_time);
  }
  json.object(part.name, [&] {
    write_plan(json, part);
    json.number("threads", std::uint64_t{options.threads});
    write_subjects(json, subjects, [&](std::size_t i) {
      json.numbers("uncontended_ns", nanoseconds[i]);
      json.numbers("pairs_per_second", rates[i]);
      json.numbers("slowest_to_fastest", fairness[i]);
    });
  });
  return true;
}

}  // namespace bench
