// SPDX-License-Identifier: Apache-2.0
// Two searches without a set of states, under sequential consistency: every interleaving, and dynamic partial-order
// reduction with source sets and sleep sets (Abdulla, Aronsson, Jonsson, Sagonas 2014). Both collect the traces that
// they find; two interleavings are one trace if they order all conflicting operations alike. The searches check the
// default engine and each other: the reduction must not lose a trace.
//
// Textbook reductions are wrong about an await. It conflicts with every write of its location. This includes a write
// that the await could have preceded, but that is hidden behind a later write which enabled the await again. A thread
// that is still blocked at the end has raced too. So an await races with all writes that it has not seen, not only with
// the last one.

#include <array>
#include <memory>

#include "check/driver.hpp"

namespace fairlock::check {

namespace {

using Clock = std::array<std::uint16_t, max_threads>;
using Set = unsigned;  // of threads

constexpr bool has(Set set, unsigned t) { return (set >> t) & 1; }

struct Event {
  unsigned thread = 0;
  std::uintptr_t location = 0;  // 0: none
  bool writes = false;
  std::uint64_t version = 0;  // of the location, before the event
  unsigned index = 0;         // among the thread's events, from 1
  std::uint8_t outcome = 0;   // of chance
  Clock clock{};              // joins the event and all events that happen before it
};

struct Version {
  std::uint64_t number = 0;
  Clock writes{}, all{};  // joined clocks of the events at the location
};

void join(Clock& into, const Clock& from) {
  for (unsigned t = 0; t < max_threads; ++t) into[t] = std::max(into[t], from[t]);
}

class TraceSearch {
 public:
  TraceSearch(const Program& program, const Config& config, std::uint64_t max_executions, bool reduce,
              Progress& progress)
      : driver_(program, config), max_executions_(max_executions), reduce_(reduce), progress_(progress) {}

  Traces run() {
    explore(0);
    result_.complete = !done();
    return std::move(result_);
  }

 private:
  // One depth of the current path: what the search knew before the event, and the event.
  struct Frame {
    Set enabled = 0, backtrack = 0;
    Event event;
  };

  void explore(Set sleep) {
    if (done()) return;
    const auto depth = path_.size();
    path_.emplace_back();
    path_[depth].enabled = enabled();
    if (path_[depth].enabled == 0) {
      finish();
      path_.pop_back();
      return;
    }
    path_[depth].backtrack = first_of(path_[depth].enabled & ~sleep);
    if (!reduce_) path_[depth].backtrack = path_[depth].enabled;

    typename Driver<ScMemory>::Snapshots here;
    here.push(driver_);
    const auto versions = versions_;
    const auto clocks = clocks_;
    const auto trace = trace_;
    Set taken = 0;
    for (;;) {
      const Set left = path_[depth].backtrack & ~taken & ~(reduce_ ? sleep : 0u);
      if (left == 0 || done()) break;
      const unsigned t = lowest(left);
      Event event = next_event(t);
      if (reduce_) find_races(event, depth, is_await(driver_.world.thread(t).pending.kind));
      Set below = 0;
      for (unsigned s = 0; reduce_ && s < driver_.world.threads(); ++s)
        if (has(sleep | taken, s) && s != t && !dependent(next_event(s), event)) below |= 1u << s;
      // Only a random choice has two outcomes. It conflicts with nothing, so exploring both is part of taking t.
      for (const unsigned outcomes = driver_.memory.outcomes(t); event.outcome < outcomes && !done(); ++event.outcome) {
        path_[depth].event = stamp(event);
        driver_.take(step_of(event));
        if (driver_.violated()) {
          report_violation(path_.size());
          break;
        }
        explore(below);
        here.restore_top(driver_);
        versions_ = versions;
        clocks_ = clocks;
        trace_ = trace;
      }
      taken |= 1u << t;
    }
    path_.pop_back();
  }

  static Step step_of(const Event& event) { return {static_cast<std::uint8_t>(event.thread), event.outcome}; }

  void report_violation(std::size_t steps) {
    result_.violation = driver_.world.judge().violation();
    for (std::size_t i = 0; i < steps; ++i) result_.schedule.push_back(step_of(path_[i].event));
  }

  bool done() const {
    return result_.executions >= max_executions_ || result_.violation.property != Property::none ||
           progress_.cancelled.load(std::memory_order_relaxed);
  }

  Set enabled() {
    Set set = 0;
    for (unsigned t = 0; t < driver_.world.threads(); ++t)
      // This search has no spurious wake-ups: without a set of states, they could go on forever.
      if (!driver_.world.thread(t).finished && driver_.world.thread(t).sleep != Sleep::asleep &&
          driver_.memory.outcomes(t) != 0)
        set |= 1u << t;
    return set;
  }

  void finish() {
    if (reduce_) {  // threads that are still blocked have raced with the writes that they could have preceded
      for (unsigned t = 0; t < driver_.world.threads(); ++t)
        if (!driver_.world.thread(t).finished) find_races(next_event(t), path_.size() - 1, true);
    }
    driver_.judge_end();
    if (driver_.violated()) report_violation(path_.size() - 1);
    progress_.states.store(++result_.executions, std::memory_order_relaxed);
    result_.traces.insert(trace_);
  }

  // The event that thread t's pending operation would be.
  Event next_event(unsigned t) {
    const auto& op = driver_.world.thread(t).pending;
    Event event;
    event.thread = t;
    event.location = has_address(op.kind) ? op.address : 0;
    event.writes = op.kind == Kind::store || op.kind == Kind::unpark || is_rmw(op.kind) ||
                   (op.kind == Kind::cas && driver_.world.arena().read(op.address, op.width) == op.expected);
    event.version = versions_[event.location].number;
    event.index = clocks_[t][t] + 1u;
    return event;
  }

  static bool dependent(const Event& a, const Event& b) {
    return a.location != 0 && a.location == b.location && (a.writes || b.writes);
  }

  // Gives the event its clock, and records the event at its location and in the trace.
  Event stamp(Event event) {
    auto& version = versions_[event.location];
    auto& clock = clocks_[event.thread];
    clock[event.thread] = static_cast<std::uint16_t>(event.index);
    if (event.location != 0) {
      join(clock, event.writes ? version.all : version.writes);
      join(version.all, clock);
      if (event.writes) {
        join(version.writes, clock);
        ++version.number;
      }
    }
    event.clock = clock;
    const auto offset = event.location != 0 ? driver_.world.arena().offset(event.location) : 0;
    trace_ += scramble(scramble((event.outcome * 100u + event.thread) * 1000u + event.index, offset),
                       event.version * 2 + event.writes);
    return event;
  }

  void find_races(const Event& event, std::size_t depth, bool awaits) {
    const Clock& seen = clocks_[event.thread];
    for (std::size_t i = depth; i-- > 0;) {
      const Event& earlier = path_[i].event;
      if (earlier.thread == event.thread || !dependent(earlier, event)) continue;
      if (seen[earlier.thread] >= earlier.index) continue;  // it happens before the thread's last event: no race
      add_backtrack(i, depth, event);
      if (!awaits && earlier.writes) break;  // this write orders all conflicts before it
    }
  }

  // Source sets: before path_[i], the search must try a thread that can begin the rest of the path without path_[i].
  void add_backtrack(std::size_t i, std::size_t depth, const Event& racing) {
    const Event& event = path_[i].event;
    Set initials = 0, present = 0;
    const auto independent_of_event = [&](const Event& later) { return later.clock[event.thread] < event.index; };
    bool racing_can_begin = true;  // `racing` conflicts with nothing in between
    for (std::size_t k = i + 1; k < depth; ++k) {
      const Event& later = path_[k].event;
      if (!independent_of_event(later)) continue;
      if (dependent(later, racing)) racing_can_begin = false;
      if (has(present, later.thread)) continue;
      present |= 1u << later.thread;
      bool initial = true;
      for (std::size_t j = i + 1; j < k && initial; ++j) {
        const Event& between = path_[j].event;
        initial = !independent_of_event(between) || later.clock[between.thread] < between.index;
      }
      if (initial) initials |= 1u << later.thread;
    }
    if (!has(present, racing.thread) && racing_can_begin) initials |= 1u << racing.thread;
    auto& frame = path_[i];
    if ((frame.backtrack & initials) != 0) return;
    const Set enabled_initials = initials & frame.enabled;
    frame.backtrack |= enabled_initials != 0 ? first_of(enabled_initials) : frame.enabled;
  }

  static unsigned lowest(Set set) { return static_cast<unsigned>(__builtin_ctz(set)); }
  static Set first_of(Set set) { return set & (~set + 1); }

  Driver<ScMemory> driver_;
  std::uint64_t max_executions_;
  bool reduce_;
  Progress& progress_;
  Traces result_;
  std::vector<Frame> path_;
  std::unordered_map<std::uintptr_t, Version> versions_;
  std::array<Clock, max_threads> clocks_{};
  std::uint64_t trace_ = 0;
};

Traces search(Program program, const Config& config, std::uint64_t max_executions, bool reduce, Progress& progress) {
  program.symmetric = false;  // a trace tells which thread does what
  return std::make_unique<TraceSearch>(program, config, max_executions, reduce, progress)->run();
}

}  // namespace

Traces all_interleavings(const Program& program, const Config& config, std::uint64_t max_executions,
                         Progress& progress) {
  return search(program, config, max_executions, false, progress);
}

Traces dpor(const Program& program, const Config& config, std::uint64_t max_executions, Progress& progress) {
  return search(program, config, max_executions, true, progress);
}

}  // namespace fairlock::check
