// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

namespace bench {
namespace {

std::uint64_t permits_for(const Entry& entry, Arguments& arguments) {
  const auto permits = arguments.number("--permits", std::uint64_t{1}, 1, 1'000'000);
  if (permits != 1 && !entry.permits) refuse("--permits: " + entry.name + " is no semaphore");
  return permits;
}

}  // namespace

Wanted::Wanted(Arguments& arguments, const Settings& settings)
    : settings(settings), entry(chosen(arguments, settings.threads)), permits(permits_for(entry, arguments)) {}

// Asked also of one thread alone, so that one and many do the same.
Wanted::Exclusion Wanted::exclusion() const {
  if (permits != 1 || alone || !entry.excludes) return Exclusion::not_asked;
  return sections.replays() ? Exclusion::replayed : Exclusion::witnessed;
}

std::uint64_t Wanted::seed(unsigned thread) const {
  std::uint64_t state = settings.seed + thread;
  return spread(state);
}

void Wanted::write(Json& json) const {
  json.object("parameters", [&] {
    json.text("lock", entry.name);
    entry.policy != nullptr ? json.text("waiting", entry.policy) : json.null("waiting");
    json.text("form", form_names[static_cast<int>(entry.form)]);
    json.number("permits", permits);
    json.number("threads", settings.threads);
    json.number("seconds", settings.seconds);
    json.number("warm_up", settings.warm_up);
    json.boolean("pin", settings.pin);
    json.number("hogs", settings.hogs);
    json.number("seed", settings.seed);
    std::uint64_t drawn = Generator(sections.generator, settings.seed).below(1u << 31);
    for (unsigned i = 0; i < settings.threads; ++i)
      drawn = drawn * 31 + Generator(sections.generator, seed(i)).below(1u << 31);
    json.number("drawn", drawn);
  });
}

Contest::Contest(const Wanted& wanted, Crew& crew)
    : wanted_(wanted),
      crew_(crew),
      data_(std::make_unique<Protected>(Generator(wanted.sections.generator, wanted.settings.seed))),
      lock_(wanted.entry.make(Size{wanted.settings.threads, wanted.permits})) {
  if (wanted.sections.notes()) ticks_per_second();  // found out here, not by a thread in its critical section
}

Member& Contest::join(unsigned thread, std::atomic<std::uint64_t>& tally, const Sections& sections) {
  const bool witnessed = wanted_.exclusion() == Wanted::Exclusion::witnessed;
  Sections own = sections;
  own.shared = sections.shared && wanted_.entry.excludes;
  members_.push_back(std::make_unique<Placed<Member, place::member>>(thread, own, wanted_.seed(thread), *data_,
                                                                     witnessed, crew_.window(), crew_.over(), tally));
  return members_.back()->value;
}

std::vector<Member*> Contest::join_all() {
  std::vector<Member*> all;
  for (unsigned i = 0; i < wanted_.settings.threads; ++i) all.push_back(&join(i));
  return all;
}

void Contest::check() const {
  std::uint64_t episodes = 0;
  for (const auto& member : members_) episodes += member->value.tally.load();
  const auto inside = [&](const std::string& sign) {
    fail(wanted_.entry.name + ": two threads were inside at once: " + sign);
  };
  if (wanted_.exclusion() == Wanted::Exclusion::replayed) {
    const auto steps = episodes * wanted_.sections.critical;
    Generator replay(wanted_.sections.generator, wanted_.settings.seed);
    replay.skip(steps);
    if (!(replay == data_->generator.value))
      inside("the shared generator is not where " + std::to_string(steps) + " steps lead");
  } else if (wanted_.exclusion() == Wanted::Exclusion::witnessed && data_->witness.value != episodes) {
    inside(std::to_string(episodes) + " episodes, but the witness counted " + std::to_string(data_->witness.value));
  }
}

void Contest::write(Json& json, const Sample& sample) const {
  constexpr const char* names[] = {"replayed", "witnessed", "not asked"};
  crew_.write_done(json, sample);
  json.text("exclusion", names[static_cast<int>(wanted_.exclusion())]);
  write_notes(json);
  crew_.write_spent(json, sample);
  wanted_.write(json);
}

void Contest::write_notes(Json& json) const {
  Ticks longest = 0;
  Histogram waits, handovers;
  std::uint64_t migrations = 0, noted = 0;
  for (const auto& placed : members_) {
    const Member& member = placed->value;
    longest = std::max(longest, member.longest_wait);
    waits.add(member.waits);
    handovers.add(member.handovers);
    migrations += member.migrations;
    noted += member.noted;
  }
  const auto& asked = wanted_.sections;
  const double seconds = asked.timed ? static_cast<double>(longest) / ticks_per_second() : 0;
  const auto number = [&](const char* key, bool wanted, double value) {
    wanted ? json.number(key, value) : json.null(key);
  };
  const auto histogram = [&](const char* key, bool wanted, const Histogram& times) {
    wanted ? times.write(json, key) : json.null(key);
  };
  number("longest_wait", asked.timed, seconds);
  histogram("waits", asked.timed, waits);
  histogram("handover", asked.handover, handovers);
  number("migrations", asked.migrations && noted != 0, static_cast<double>(migrations) / static_cast<double>(noted));
}

}  // namespace bench
