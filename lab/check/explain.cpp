// SPDX-License-Identifier: Apache-2.0
#include "check/explain.hpp"

#include <algorithm>
#include <memory>

#include "check/driver.hpp"

namespace fairlock::check {

namespace {

constexpr unsigned most_threads = 3;

// Runs the scenario and writes its story.
class Narrator {
 public:
  explicit Narrator(const Subject& subject) : driver_(program(subject), config(subject)) {}

  Story tell() {
    note("no thread has arrived");
    arrive(0);
    arrive(1);
    arrive(2);
    unsigned last = 0;
    for (unsigned turns = 0; turns < most_threads; ++turns) {
      const unsigned owner = inside();
      if (owner == no_thread) break;
      last = owner;
      leave(owner);
      admit();
    }
    arrive(last);
    if (const unsigned owner = inside(); owner != no_thread) leave(owner);
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
        std::min(most_threads, subject.properties.max_threads != 0 ? subject.properties.max_threads : most_threads);
    c.episodes = 2;
    c.slots = CheckedMemory::max_slots;
    c.domain = subject.domain;
    return c;
  }

  const Names& names() const { return driver_.world.names(); }
  const Thread& thread(unsigned t) const { return driver_.world.thread(t); }
  const Standing& standing(unsigned t) const { return driver_.world.judge().standing(t); }
  bool is_inside(unsigned t) const { return standing(t).leaving; }
  bool is_releasing(unsigned t) const { return standing(t).phase == Phase::releasing; }
  bool can_go_on(unsigned t) {
    return !thread(t).finished && thread(t).sleep != Sleep::asleep && driver_.memory.outcomes(t) != 0;
  }
  unsigned inside() const {
    for (unsigned t = 0; t < driver_.world.threads(); ++t)
      if (is_inside(t)) return t;
    return no_thread;
  }

  void step(unsigned t) {
    const Operation op = thread(t).pending;
    std::string text = thread_name(t) + "  " + names().show(op);
    driver_.memory.take(t, 0);
    if (op.kind == Kind::cas) text += thread(t).result == op.expected ? " done" : " failed";
    else if (op.kind == Kind::chance) text += ": no";
    else if (op.kind != Kind::store) text += " = " + names().show_value(thread(t).result);
    operations_.push_back(std::move(text));
    driver_.go_on_privately(t);
    changed_.push_back(op.address);
  }

  void arrive(unsigned t) {
    if (t >= driver_.world.threads() || thread(t).finished) return;
    while (can_go_on(t) && !is_inside(t)) step(t);
    waits_[t] = !is_inside(t);
    note(thread_name(t) + (waits_[t] ? " arrives and waits" : " arrives and enters"));
  }

  void leave(unsigned t) {
    while (can_go_on(t) && (is_inside(t) || is_releasing(t))) step(t);
    const bool has_left = thread(t).finished || !is_releasing(t);
    if (!has_left) unfinished_ = t;
    note(thread_name(t) + (has_left ? " leaves" : " hands over, and waits until its successor notices"));
  }

  // Lets the waiters go on: one enters, others may move up.
  void admit() {
    for (unsigned t = 0; t < driver_.world.threads(); ++t) {
      if (!waits_[t] || inside() != no_thread) continue;
      const bool moves = can_go_on(t);
      while (can_go_on(t) && !is_inside(t)) step(t);
      if (is_inside(t)) {
        waits_[t] = false;
        note(thread_name(t) + " enters");
      } else if (moves) {
        note(thread_name(t) + " checks again, and still waits");
      }
    }
    if (unfinished_ != no_thread) {
      const unsigned t = std::exchange(unfinished_, no_thread);
      while (can_go_on(t) && is_releasing(t)) step(t);
      note(thread_name(t) + " has left");
    }
    for (unsigned t = 0; t < driver_.world.threads(); ++t) {
      if (!waits_[t] || !can_go_on(t)) continue;
      while (can_go_on(t) && !is_inside(t)) step(t);
      note(thread_name(t) + " moves up");
    }
  }

  void note(std::string action) {
    Moment moment;
    moment.action = std::move(action);
    if (const unsigned owner = inside(); owner != no_thread) moment.owner = thread_name(owner);
    for (unsigned t = 0; t < driver_.world.threads(); ++t)
      if (watches(t)) moment.waiting.emplace_back(thread_name(t), names().word_at(thread(t).pending.address)->text);
    for (const auto address : names().addresses())
      snapshots_.emplace_back(story_.moments.size(), address,
                              driver_.world.arena().read(address, names().word_at(address)->width));
    moment.operations = std::exchange(operations_, {});
    story_.moments.push_back(std::move(moment));
  }

  // A thread that has not arrived yet, or has left, may already have posted its next wait.
  bool watches(unsigned t) const { return (waits_[t] || t == unfinished_) && is_await(thread(t).pending.kind); }

  // The story shows the fields of the lock, and all other words that the threads accessed.
  Story finish() {
    std::vector<std::uintptr_t> shown;
    for (const auto address : names().addresses()) {
      const auto& text = names().word_at(address)->text;
      const bool of_lock = driver_.world.lock_at(address) == 0 && text.find('[') == std::string::npos;
      if (of_lock || std::find(changed_.begin(), changed_.end(), address) != changed_.end()) shown.push_back(address);
    }
    for (const auto address : shown) story_.fields.push_back(names().word_at(address)->text);
    for (auto& moment : story_.moments) moment.values.assign(shown.size(), "");
    for (const auto& [moment, address, value] : snapshots_) {
      const auto at = std::find(shown.begin(), shown.end(), address);
      if (at != shown.end())
        story_.moments[moment].values[static_cast<std::size_t>(at - shown.begin())] = names().show_value(value);
    }
    return std::move(story_);
  }

  Driver<ScMemory> driver_;
  Story story_;
  std::vector<std::string> operations_;
  std::vector<std::uintptr_t> changed_;
  std::vector<std::tuple<std::size_t, std::uintptr_t, std::uint64_t>> snapshots_;
  bool waits_[max_threads] = {};
  unsigned unfinished_ = no_thread;  // the thread that waits within its release
};

}  // namespace

Story explain(const Subject& subject) { return std::make_unique<Narrator>(subject)->tell(); }

}  // namespace fairlock::check
