// SPDX-License-Identifier: Apache-2.0
#include "check/explain.hpp"

#include <algorithm>
#include <memory>

#include "check/driver.hpp"

namespace fairlock::check {

namespace {

constexpr unsigned storytellers = 3;

class Teller {
 public:
  explicit Teller(const Subject& subject) : driver_(program(subject), config(subject)) {}

  Story tell() {
    note("nobody is here");
    arrive(0);
    arrive(1);
    arrive(2);
    unsigned last = 0;
    for (unsigned turns = 0; turns < storytellers; ++turns) {
      const unsigned owner = inside();
      if (owner == nobody) break;
      last = owner;
      leave(owner);
      admit();
    }
    arrive(last);
    if (const unsigned owner = inside(); owner != nobody) leave(owner);
    return finish();
  }

 private:
  static Program program(const Subject& subject) {
    auto p = subject.program(Scenario::rounds, CheckedMemory::max_slots);
    p.symmetric = false;
    return p;
  }
  static Config config(const Subject& subject) {
    Config c;
    c.threads =
        std::min(storytellers, subject.properties.max_threads != 0 ? subject.properties.max_threads : storytellers);
    c.episodes = 2;
    c.slots = CheckedMemory::max_slots;
    c.domain = subject.domain;
    return c;
  }

  static std::string letter(unsigned t) { return std::string(1, static_cast<char>('A' + t)); }
  const Thread& thread(unsigned t) const { return driver_.world.thread(t); }
  bool is_inside(unsigned t) const { return thread(t).leaving; }
  bool can_go_on(unsigned t) {
    return !thread(t).finished && thread(t).sleep != Sleep::asleep && driver_.memory.outcomes(t) != 0;
  }
  unsigned inside() const {
    for (unsigned t = 0; t < driver_.world.threads(); ++t)
      if (is_inside(t)) return t;
    return nobody;
  }

  void step(unsigned t) {
    const Operation op = thread(t).pending;
    std::string text = letter(t) + "  " + driver_.world.show(op);
    driver_.memory.take(t, 0);
    if (op.kind == Kind::cas) text += thread(t).result == op.expected ? " done" : " failed";
    else if (op.kind == Kind::chance) text += ": no";
    else if (op.kind != Kind::store) text += " = " + driver_.world.show_value(thread(t).result);
    operations_.push_back(std::move(text));
    driver_.go_on_privately(t);
    changed_.push_back(op.address);
  }

  void arrive(unsigned t) {
    if (t >= driver_.world.threads() || thread(t).finished) return;
    while (can_go_on(t) && !is_inside(t)) step(t);
    waits_[t] = !is_inside(t);
    note(letter(t) + (waits_[t] ? " arrives and waits" : " arrives and enters"));
  }

  void leave(unsigned t) {
    while (can_go_on(t) && (is_inside(t) || thread(t).phase == Phase::releasing)) step(t);
    const bool gone = thread(t).finished || thread(t).phase != Phase::releasing;
    if (!gone) unfinished_ = t;
    note(letter(t) + (gone ? " leaves" : " hands over, and waits for it to be noticed"));
  }

  // Lets those who wait go on: one enters, others may move up.
  void admit() {
    for (unsigned t = 0; t < driver_.world.threads(); ++t) {
      if (!waits_[t] || inside() != nobody) continue;
      const bool moves = can_go_on(t);
      while (can_go_on(t) && !is_inside(t)) step(t);
      if (is_inside(t)) {
        waits_[t] = false;
        note(letter(t) + " enters");
      } else if (moves) {
        note(letter(t) + " looks again, and waits on");
      }
    }
    if (unfinished_ != nobody) {
      const unsigned t = std::exchange(unfinished_, nobody);
      while (can_go_on(t) && thread(t).phase == Phase::releasing) step(t);
      note(letter(t) + " has left");
    }
    for (unsigned t = 0; t < driver_.world.threads(); ++t) {
      if (!waits_[t] || !can_go_on(t)) continue;
      while (can_go_on(t) && !is_inside(t)) step(t);
      note(letter(t) + " moves up");
    }
  }

  void note(std::string action) {
    Moment moment;
    moment.action = std::move(action);
    if (const unsigned owner = inside(); owner != nobody) moment.owner = letter(owner);
    for (unsigned t = 0; t < driver_.world.threads(); ++t)
      if (watches(t)) moment.waiting.emplace_back(letter(t), driver_.world.named(thread(t).pending.address)->text);
    for (const auto address : driver_.world.named_addresses())
      snapshots_.emplace_back(story_.moments.size(), address,
                              driver_.world.read(address, driver_.world.named(address)->width));
    moment.operations = std::exchange(operations_, {});
    story_.moments.push_back(std::move(moment));
  }

  // A thread that has not come yet, or is done for now, may already have posted its next wait.
  bool watches(unsigned t) const { return (waits_[t] || t == unfinished_) && is_await(thread(t).pending.kind); }

  // The fields of the lock, and whatever else took part.
  Story finish() {
    std::vector<std::uintptr_t> shown;
    for (const auto address : driver_.world.named_addresses()) {
      const auto* const name = driver_.world.named(address);
      const bool lock = name->of_lock && name->text.find('[') == std::string::npos && name->text.rfind("lock2", 0) != 0;
      if (lock || std::find(changed_.begin(), changed_.end(), address) != changed_.end()) shown.push_back(address);
    }
    for (const auto address : shown) story_.fields.push_back(driver_.world.named(address)->text);
    for (auto& moment : story_.moments) moment.values.assign(shown.size(), "");
    for (const auto& [moment, address, value] : snapshots_) {
      const auto at = std::find(shown.begin(), shown.end(), address);
      if (at != shown.end())
        story_.moments[moment].values[static_cast<std::size_t>(at - shown.begin())] = driver_.world.show_value(value);
    }
    return std::move(story_);
  }

  Driver<ScMemory> driver_;
  Story story_;
  std::vector<std::string> operations_;
  std::vector<std::uintptr_t> changed_;
  std::vector<std::tuple<std::size_t, std::uintptr_t, std::uint64_t>> snapshots_;
  bool waits_[max_threads] = {};
  unsigned unfinished_ = nobody;
};

}  // namespace

Story explain(const Subject& subject) { return std::make_unique<Teller>(subject)->tell(); }

}  // namespace fairlock::check
