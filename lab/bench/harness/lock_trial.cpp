// SPDX-License-Identifier: Apache-2.0
#include "harness/lock_trial.hpp"

#include <algorithm>
#include <string>

#include "harness/errors.hpp"

namespace bench {
namespace {

std::uint64_t permits_for(const Entry& entry, Arguments& arguments) {
  const auto permits = arguments.number("--permits", std::uint64_t{1}, 1, 1'000'000);
  if (permits != 1 && !entry.permits) refuse("--permits: " + entry.name + " is not a semaphore");
  return permits;
}

}  // namespace

TrialOptions::TrialOptions(Arguments& arguments, const CommonOptions& common)
    : common(common), entry(chosen_entry(arguments, common.threads)), permits(permits_for(entry, arguments)) {}

// A single thread is checked too, so that it does the same work as several.
TrialOptions::Exclusion TrialOptions::exclusion() const {
  if (permits != 1 || single_thread || !entry.excludes) return Exclusion::not_checked;
  return sections.replays() ? Exclusion::replayed : Exclusion::witnessed;
}

std::uint64_t TrialOptions::seed(unsigned thread) const {
  std::uint64_t state = common.seed + thread;
  return spread(state);
}

void TrialOptions::write(Json& json) const {
  json.object("parameters", [&] {
    json.text("lock", entry.name);
    entry.policy != nullptr ? json.text("waiting", entry.policy) : json.null("waiting");
    json.text("form", form_names[static_cast<int>(entry.form)]);
    json.number("permits", permits);
    json.number("threads", common.threads);
    json.number("seconds", common.seconds);
    json.number("warm_up", common.warm_up);
    json.boolean("pin", common.pin);
    json.number("hogs", common.hogs);
    json.number("seed", common.seed);
    std::uint64_t drawn = Generator(sections.generator, common.seed).below(1u << 31);
    for (unsigned i = 0; i < common.threads; ++i)
      drawn = drawn * 31 + Generator(sections.generator, seed(i)).below(1u << 31);
    json.number("drawn", drawn);
  });
}

LockTrial::LockTrial(const TrialOptions& options, Crew& crew)
    : options_(options),
      crew_(crew),
      data_(std::make_unique<ProtectedData>(Generator(options.sections.generator, options.common.seed))),
      loop_(options.entry.make_loop(Size{options.common.threads, options.permits})) {
  // Measure the rate now: otherwise a thread would do so in its critical section.
  if (options.sections.records()) ticks_per_second();
}

Contender& LockTrial::join(unsigned thread, std::atomic<std::uint64_t>& tally, const Sections& sections) {
  const bool witnessed = options_.exclusion() == TrialOptions::Exclusion::witnessed;
  Sections own = sections;
  own.shared = sections.shared && options_.entry.excludes;
  contenders_.push_back(std::make_unique<Placed<Contender, place::contender>>(
      thread, own, options_.seed(thread), *data_, witnessed, crew_.window(), crew_.over(), tally));
  return contenders_.back()->value;
}

std::vector<Contender*> LockTrial::join_all() {
  std::vector<Contender*> contenders;
  for (unsigned i = 0; i < options_.common.threads; ++i) contenders.push_back(&join(i));
  return contenders;
}

void LockTrial::check() const {
  std::uint64_t episodes = 0;
  for (const auto& contender : contenders_) episodes += contender->value.tally.load();
  const auto breach = [&](const std::string& evidence) {
    fail(options_.entry.name + ": two threads were inside at once: " + evidence);
  };
  if (options_.exclusion() == TrialOptions::Exclusion::replayed) {
    const auto steps = episodes * options_.sections.critical;
    Generator replay(options_.sections.generator, options_.common.seed);
    replay.skip(steps);
    if (!(replay == data_->generator.value))
      breach("the shared generator is not in the state that " + std::to_string(steps) + " steps lead to");
  } else if (options_.exclusion() == TrialOptions::Exclusion::witnessed && data_->witness.value != episodes) {
    breach(std::to_string(episodes) + " episodes, but the witness counted " + std::to_string(data_->witness.value));
  }
}

void LockTrial::write(Json& json, const Sample& sample) const {
  constexpr const char* names[] = {"replayed", "witnessed", "not checked"};
  crew_.write_episodes(json, sample);
  json.text("exclusion", names[static_cast<int>(options_.exclusion())]);
  write_records(json);
  crew_.write_costs(json, sample);
  options_.write(json);
}

void LockTrial::write_records(Json& json) const {
  Ticks longest = 0;
  Histogram waits, handovers;
  std::uint64_t migrations = 0, recorded = 0;
  for (const auto& placed : contenders_) {
    const Contender& contender = placed->value;
    longest = std::max(longest, contender.longest_wait);
    waits.add(contender.waits);
    handovers.add(contender.handovers);
    migrations += contender.migrations;
    recorded += contender.recorded;
  }
  const auto& sections = options_.sections;
  const double seconds = sections.timed ? static_cast<double>(longest) / ticks_per_second() : 0;
  const auto number = [&](const char* key, bool present, double value) {
    present ? json.number(key, value) : json.null(key);
  };
  const auto histogram = [&](const char* key, bool present, const Histogram& times) {
    present ? times.write(json, key) : json.null(key);
  };
  number("longest_wait", sections.timed, seconds);
  histogram("waits", sections.timed, waits);
  histogram("handover", sections.handover, handovers);
  number("migrations", sections.migrations && recorded != 0,
         static_cast<double>(migrations) / static_cast<double>(recorded));
}

}  // namespace bench
