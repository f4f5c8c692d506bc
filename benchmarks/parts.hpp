// The parts of the benchmark: each takes its rounds and writes an object of its own.
//
// Every round measures every lock for a moment, each round beginning with another one, so that whatever disturbs the
// machine disturbs them all alike. Compare within a round, then take the median.
#pragma once

#include <cstdio>
#include <vector>

#include "json.hpp"
#include "measured.hpp"
#include "options.hpp"

namespace bench {

// Tells on stderr how much of the whole is done; run.py makes a time out of it.
class Progress {
 public:
  explicit Progress(double seconds) : whole_(seconds) {}

  void spent(const Part& part, double seconds) {
    done_ += seconds / whole_;
    std::fprintf(stderr, "progress %.4f %s\n", done_, part.name);
  }

 private:
  const double whole_;
  double done_ = 0;
};

// False: the options ask for nothing that this part measures.
bool measure_uncontended(const Options& options, Progress& progress, Json& json);
bool measure_contended(const Options& options, Progress& progress, Json& json);
bool measure_semaphores(const Options& options, Progress& progress, Json& json);
bool measure_oversubscribed(const Options& options, Progress& progress, Json& json);

// Calls measure(i) for every subject i of a round, another one first each time.
template <class Measure>
void one_round(unsigned round, std::size_t subjects, Measure&& measure) {
  for (std::size_t k = 0; k < subjects; ++k) measure((k + round) % subjects);
}

template <class WriteSamples>
void write_subjects(Json& json, const Subjects& subjects, WriteSamples&& write_samples) {
  json.list("subjects", [&] {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      json.object(nullptr, [&] {
        const auto& about = subjects[i]->description;
        json.text("name", about.name);
        json.text("form", form_names[static_cast<int>(about.form)]);
        if (about.order) json.text("order", about.order);
        if (about.policy) json.text("policy", about.policy);
        write_samples(i);
      });
    }
  });
}

inline void write_plan(Json& json, const Part& part) {
  json.number("rounds", std::uint64_t{part.rounds});
  json.number("seconds", part.seconds);
}

}  // namespace bench
