// Part `oversubscribed`: many threads on few processors, on an idle machine and beside processes that burn CPU. The
// locks that are unfair on purpose, and what is to tame them, also in a smaller crowd.
#include <memory>
#include <optional>

#include "crew.hpp"
#include "crowd.hpp"
#include "hogs.hpp"
#include "other_work.hpp"
#include "parts.hpp"
#include "roster.hpp"

namespace bench {
namespace {

constexpr unsigned small_crowd = 8;
// So much longer there: a turn may take milliseconds, and with few of them each the counts differ by chance.
constexpr double beside_hogs = 2;

struct Samples {
  std::vector<double> rates, fairness, longest, others;
  std::vector<std::vector<std::uint64_t>> counts;
};

struct Case {
  Crowd& crowd;
  unsigned threads, hogs;
  Subjects subjects;
  Seconds time{}, warm_up{};  // for each subject in each round; the latter is part of it
  std::vector<Samples> samples;

  Case(Crowd& crowd, unsigned threads, unsigned hogs, Subjects subjects)
      : crowd(crowd), threads(threads), hogs(hogs), subjects(std::move(subjects)), samples(this->subjects.size()) {}
};

Subjects only_lifo(Subjects subjects) {
  std::erase_if(subjects, [](const auto& one) { return one->description.name.find("lifo") == std::string::npos; });
  return subjects;
}

}  // namespace

bool measure_oversubscribed(const Options& options, Progress& progress, Json& json) {
  const Part& part = options.oversubscribed;
  const auto subjects = [&] { return locks_and_semaphores(options, {Patient::name}); };
  if (subjects().empty()) return false;
  Crowd large(options.crowd), small(small_crowd);
  std::vector<Case> cases;
  cases.emplace_back(large, options.crowd, 0u, subjects());
  cases.emplace_back(large, options.crowd, options.hogs, subjects());
  if (auto few = only_lifo(subjects()); !few.empty()) cases.emplace_back(small, small_crowd, 0u, std::move(few));

  double shares = 0;
  const auto share = [](const Case& one) { return one.hogs != 0 ? beside_hogs : 1; };
  for (const auto& one : cases) shares += share(one) * static_cast<double>(one.subjects.size());
  for (auto& one : cases) {
    one.time = Seconds(part.seconds / part.rounds * share(one) / shares);
    one.warm_up = std::min(Seconds(0.1), 0.2 * one.time);
  }
  for (unsigned round = 0; round < part.rounds; ++round) {
    for (auto& one : cases) {
      std::optional<Hogs> hogs;
      if (one.hogs != 0) hogs.emplace(one.hogs);
      const auto ours = [&] { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + (hogs ? hogs->spent() : 0); };
      one_round(round, one.subjects.size(), [&](std::size_t i) {
        const OtherWork others(ours());
        auto outcome = one.crowd.measure(*one.subjects[i], one.warm_up, one.time - one.warm_up);
        one.samples[i].rates.push_back(outcome.pairs_per_second);
        one.samples[i].fairness.push_back(outcome.slowest_to_fastest);
        one.samples[i].longest.push_back(outcome.longest_wait);
        one.samples[i].others.push_back(others.share(ours()));
        one.samples[i].counts.push_back(std::move(outcome.counts));
        progress.spent(part, one.time.count());
      });
    }
  }

  json.object(part.name, [&] {
    write_plan(json, part);
    json.list("cases", [&] {
      for (const auto& one : cases) {
        json.object(nullptr, [&] {
          json.number("threads", std::uint64_t{one.threads});
          json.number("hogs", std::uint64_t{one.hogs});
          json.number("window", (one.time - one.warm_up).count());
          write_subjects(json, one.subjects, [&](std::size_t i) {
            const auto& samples = one.samples[i];
            json.numbers("pairs_per_second", samples.rates);
            json.numbers("slowest_to_fastest", samples.fairness);
            json.numbers("longest_wait", samples.longest);
            json.numbers("other_work", samples.others);
            json.list("counts", [&] {
              for (const auto& counts : samples.counts) json.numbers(nullptr, counts);
            });
          });
        });
      }
    });
  });
  return true;
}

}  // namespace bench
