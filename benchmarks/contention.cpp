#include "contention.hpp"

namespace bench {
namespace {

std::uint64_t permits_for(const Entry& entry, Arguments& arguments) {
  const auto permits = arguments.number("--permits", std::uint64_t{1}, 1, 1'000'000);
  if (permits != 1 && !entry.permits) refuse("--permits: " + entry.name + " is no semaphore");
  return permits;
}

}  // namespace

Contention::Contention(Arguments& arguments, const Settings& settings)
    : settings_(settings), sections_(arguments), entry_(chosen(arguments, settings.threads)),
      permits_(permits_for(entry_, arguments)) {}

void Contention::prepare() {
  ticks_per_second();  // found out here, not by a thread in its critical section
  crew_ = std::make_unique<Crew>(settings_);
  data_.reset(new Protected{Generator(sections_.generator, settings_.seed)});
  lock_ = entry_.make(Size{settings_.threads, permits_});
  std::uint64_t seed = settings_.seed;
  for (unsigned i = 0; i < settings_.threads; ++i)
    members_.push_back(std::make_unique<Member>(i, sections_, spread(seed), *data_, asked() && !sections_.replays(),
                                                crew_->window(), crew_->over(), crew_->tally(i)));
}

void Contention::check() const {
  if (!asked()) return;
  std::uint64_t all = 0;
  for (const auto& member : members_) all += member->tally.load();
  const auto inside = [&](const std::string& sign) { fail(entry_.name + ": two threads were inside at once: " + sign); };
  if (sections_.replays()) {
    Generator replay(sections_.generator, settings_.seed);
    replay.skip(all * sections_.critical);
    if (!(replay == data_->generator))
      inside("the shared generator is not where " + std::to_string(all * sections_.critical) + " steps lead");
  } else if (data_->witness != all) {
    inside(std::to_string(all) + " episodes, but the witness counted " + std::to_string(data_->witness));
  }
}

void Contention::write(Json& json, const Sample& sample) const {
  crew_->write(json, sample);
  json.text("exclusion", !asked() ? "not asked" : sections_.replays() ? "replayed" : "witnessed");
  Ticks longest = 0;
  Histogram waits, handovers;
  std::uint64_t migrations = 0, noted = 0;
  for (const auto& member : members_) {
    longest = std::max(longest, member->longest_wait);
    waits.add(member->waits);
    handovers.add(member->handovers);
    migrations += member->migrations;
    noted += member->noted;
  }
  const auto histogram = [&](const char* key, bool wanted, const Histogram& one) {
    wanted ? one.write(json, key) : json.null(key);
  };
  const auto number = [&](const char* key, bool wanted, double value) {
    wanted ? json.number(key, value) : json.null(key);
  };
  number("longest_wait", sections_.timed, static_cast<double>(longest) / ticks_per_second());
  histogram("waits", sections_.timed, waits);
  histogram("handover", sections_.handover, handovers);
  number("migrations", sections_.migrations && noted != 0, static_cast<double>(migrations) / static_cast<double>(noted));
}

}  // namespace bench
