// SPDX-License-Identifier: Apache-2.0
// fairlock_lab._native: the catalogue and the checker, for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <optional>
#include <string>

#include <fairlock/fairlock.hpp>

#include "check/explain.hpp"
#include "check/litmus.hpp"
#include "check/mutant.hpp"
#include "check/search.hpp"
#include "check/subject.hpp"

namespace nb = nanobind;
using namespace fairlock;
using namespace fairlock::check;

namespace {

nb::object or_none(bool known, unsigned value) { return known ? nb::object(nb::int_(value)) : nb::none(); }

// The properties that locks and semaphores share.
template <class E>
nb::dict describe_common(const char* kind, bool variation) {
  constexpr auto p = E::properties;
  nb::dict d;
  d["kind"] = kind;
  d["name"] = E::name;
  d["algorithm"] = E::base;
  d["variation"] = variation;
  d["source"] = p.source;
  d["spinning"] = p.spinning;
  d["order"] = name_of(p.order);
  d["bypass"] = or_none(bounds_bypass(p.order) || p.order == Order::while_saturated, static_cast<unsigned>(p.bypass));
  d["waiting_array"] = p.waiting_array;
  d["parkable"] = p.parkable;
  d["destroyable_by_next_owner"] = !p.release_touches_lock;
  d["max_threads"] = or_none(p.max_threads != 0, p.max_threads);
  d["space"] = p.space;
  return d;
}

template <class E>
nb::dict describe_semaphore(bool variation) {
  nb::dict d = describe_common<E>("semaphore", variation);
  d["abandonable"] = true;
  d["semaphore_bytes"] = sizeof(typename E::Semaphore);
  return d;
}

template <class E>
nb::dict describe_lock(bool variation) {
  using L = typename E::Lock;
  constexpr auto p = E::properties;
  nb::dict d = describe_common<E>("lock", variation);
  d["platoon"] = or_none(p.platoon != 0, p.platoon);
  d["constant_time_release"] = p.constant_time_release;
  d["context_free"] = E::context_free;
  d["on_stack"] = p.on_stack;
  d["nodes_circulate"] = p.nodes_circulate;
  d["constructor_or_destructor"] = !E::trivial;
  d["thread_exit_work"] = p.allocates;
  d["dynamic_memory"] = p.allocates;
  d["try_lock"] = E::try_lock;
  d["thread_oblivious"] = p.thread_oblivious;
  d["abandonable"] = E::abandonable;
  d["preloadable"] = E::preloadable;
  d["lock_bytes"] = sizeof(L);
  d["episode_bytes"] = E::context_free ? 0 : sizeof(typename L::Episode);
  d["mutex_bytes"] = sizeof(Mutex<L>);
  d["paper_branches"] = p.paper_branches;
  d["paper_misses"] = p.paper_misses;
  d["paper_invalidations"] = p.paper_invalidations;
  return d;
}

nb::list locks() {
  nb::list all;
  for_each_entry(Locks<Native<>>{}, [&]<class E>() { all.append(describe_lock<E>(false)); });
  for_each_entry(Variations<Native<>>{}, [&]<class E>() { all.append(describe_lock<E>(true)); });
  return all;
}

nb::list semaphores() {
  nb::list all;
  for_each_entry(Semaphores<Native<>>{}, [&]<class E>() { all.append(describe_semaphore<E>(false)); });
  for_each_entry(SemaphoreVariations<Native<>>{}, [&]<class E>() { all.append(describe_semaphore<E>(true)); });
  return all;
}

nb::list conditions() {
  nb::list all;
  nb::dict d;
  d["kind"] = "condition";
  d["name"] = "condition";
  d["variation"] = false;
  d["source"] = "fairlock";
  d["spinning"] = "L+P";
  d["order"] = name_of(Order::fifo);
  d["over"] = "any lock";
  d["destroyable_when_notified"] = true;
  d["condition_bytes"] = sizeof(Condition<Native<>>);
  all.append(d);
  return all;
}

// The arguments of a check, after validation. Invalid arguments raise ValueError.
struct Request {
  const Subject* subject;
  Scenario scenario;
  Config config;
  std::string_view memory;

  Request(std::string_view name, std::string_view scenario_name, unsigned threads, unsigned episodes, unsigned slots,
          std::string_view memory_name, std::string_view mutant)
      : memory(memory_name == "weak" ? "weak" : "sc") {
    if (!mutant.empty()) {
      for (const auto& m : mutants())
        if (m.name == mutant) {
          config.mutation = &m.mutation;
          name = m.lock;
        }
      if (config.mutation == nullptr) throw nb::value_error(("unknown mutant '" + std::string(mutant) + "'").c_str());
    }
    subject = find_subject(name);
    if (subject == nullptr) throw nb::value_error(("unknown lock '" + std::string(name) + "'").c_str());
    std::optional<Scenario> known;
    for (unsigned i = 0; i < std::size(scenario_names); ++i)
      if (scenario_names[i] == scenario_name) known = static_cast<Scenario>(i);
    if (!known) throw nb::value_error(("unknown scenario '" + std::string(scenario_name) + "'").c_str());
    scenario = *known;
    if (threads < 1 || threads > max_threads) throw nb::value_error("threads: 1 to 4");
    if (episodes < 1 || episodes > 8) throw nb::value_error("episodes: 1 to 8");
    if (slots < 1 || slots > CheckedMemory::max_slots || (slots & (slots - 1)) != 0)
      throw nb::value_error("slots: 1, 2 or 4");
    if (memory_name != "sc" && memory_name != "weak") throw nb::value_error("memory: sc or weak");
    if (const auto why = subject->refuses(scenario, threads))
      throw nb::value_error((std::string(subject->name) + ": " + std::string(*why)).c_str());
    config.threads = threads;
    config.episodes = episodes;
    config.slots = slots;
    config.weak = memory_name == "weak";
    config.domain = subject->domain;
    if (scenario == Scenario::full_table) config.domain.leavers = 1;
  }

  Program program() const { return subject->program(scenario, config.slots); }
};

nb::dict verdict(const Violation& violation) {
  nb::dict d;
  d["property"] =
      violation.property == Property::none ? nb::none() : nb::object(nb::str(check::name_of(violation.property)));
  d["what"] = violation.what;
  return d;
}

// One exploration. `run` and `traces` release the GIL: other Python threads may watch `states` and call `cancel`.
class Check {
 public:
  Check(std::string_view name, std::string_view scenario, unsigned threads, unsigned episodes, unsigned slots,
        std::string_view memory, std::string_view mutant, std::uint64_t max_states)
      : request_(name, scenario, threads, episodes, slots, memory, mutant), max_states_(max_states) {}

  nb::dict run() {
    Result result;
    {
      nb::gil_scoped_release released;
      result = explore(request_.program(), request_.config, max_states_, progress_);
    }
    nb::dict d = verdict(result.violation);
    d["states"] = result.states;
    d["complete"] = result.complete;
    d["seconds"] = result.seconds;
    d["schedule"] = to_string(result.schedule);
    return d;
  }

  // Run partial-order reduction (`reduce`), or explore every interleaving to compare with it. Both need sequentially
  // consistent memory. `max_states` limits the executions.
  nb::dict traces(bool reduce) {
    if (request_.config.weak) throw nb::value_error("traces need memory sc");
    Traces traces;
    {
      nb::gil_scoped_release released;
      traces = (reduce ? dpor : all_interleavings)(request_.program(), request_.config, max_states_, progress_);
    }
    nb::dict d = verdict(traces.violation);
    d["executions"] = traces.executions;
    d["schedule"] = to_string(traces.schedule);
    d["complete"] = traces.complete;
    nb::set hashes;
    for (const auto trace : traces.traces) hashes.add(nb::int_(trace));
    d["traces"] = hashes;
    return d;
  }

  std::uint64_t states() const { return progress_.states.load(std::memory_order_relaxed); }
  void cancel() { progress_.cancelled.store(true, std::memory_order_relaxed); }

 private:
  Request request_;
  std::uint64_t max_states_;
  Progress progress_;
};

nb::dict replay_schedule(std::string_view name, std::string_view scenario, unsigned threads, unsigned episodes,
                         unsigned slots, std::string_view memory, std::string_view mutant,
                         const std::string& schedule) {
  const Request request(name, scenario, threads, episodes, slots, memory, mutant);
  std::vector<Step> steps;
  if (!parse(schedule, steps))
    throw nb::value_error("a schedule is letters A to D, each with an optional number: AAB1C");
  const Replay replayed = replay(request.program(), request.config, steps);
  if (!replayed.problem.empty()) throw nb::value_error(replayed.problem.c_str());
  nb::dict d = verdict(replayed.violation);
  nb::list lines;
  for (const auto& line : replayed.lines) lines.append(line);
  d["lines"] = lines;
  d["skipped"] = replayed.skipped;
  return d;
}

nb::list list_subjects() {
  nb::list all;
  for (const auto& subject : subjects()) {
    nb::dict d;
    d["name"] = subject.name;
    d["algorithm"] = subject.properties.name;
    d["variation"] = subject.variation;
    d["waiting_array"] = subject.properties.waiting_array;
    d["sleeping"] = subject.sleeping;
    d["max_threads"] = or_none(subject.properties.max_threads != 0, subject.properties.max_threads);
    nb::list fits;
    for (unsigned i = 0; i < std::size(scenario_names); ++i) {
      const auto scenario = static_cast<Scenario>(i);
      if (!subject.refuses(scenario, 3) || !subject.refuses(scenario, 2)) fits.append(scenario_names[i]);
    }
    d["scenarios"] = fits;
    all.append(d);
  }
  return all;
}

nb::list list_mutants() {
  nb::list all;
  for (const auto& mutant : mutants()) {
    nb::dict d;
    d["name"] = mutant.name;
    d["lock"] = mutant.lock;
    d["what"] = mutant.what;
    all.append(d);
  }
  return all;
}

// Every litmus test under both models: whether the outcome should be reachable, and whether it is.
nb::list run_litmus() {
  nb::list rows;
  for (const auto& test : litmus_tests()) {
    for (const bool weak : {false, true}) {
      Config config;
      config.threads = test.threads;
      config.weak = weak;
      Progress progress;
      const Result result = explore(test.program(), config, 10'000'000, progress);
      nb::dict d;
      d["name"] = test.name;
      d["what"] = test.what;
      d["memory"] = weak ? "weak" : "sc";
      d["expected"] = weak ? test.weak : test.sc;
      d["found"] =
          result.violation.property == Property::unlocked;  // how a litmus test reports that its outcome was reached
      d["states"] = result.states;
      d["complete"] = result.complete;
      rows.append(d);
    }
  }
  return rows;
}

nb::dict explain_lock(std::string_view name) {
  const Subject* const subject = find_subject(name);
  if (subject == nullptr || subject->refuses(Scenario::rounds, 2))
    throw nb::value_error(("unknown lock '" + std::string(name) + "'").c_str());
  const Story story = explain(*subject);
  nb::dict d;
  nb::list fields, moments;
  for (const auto& field : story.fields) fields.append(field);
  for (const auto& moment : story.moments) {
    nb::dict m;
    m["action"] = moment.action;
    m["owner"] = moment.owner;
    nb::list waiting, values, operations;
    for (const auto& [waiter, word] : moment.waiting) waiting.append(nb::make_tuple(waiter, word));
    for (const auto& value : moment.values) values.append(value);
    for (const auto& operation : moment.operations) operations.append(operation);
    m["waiting"] = waiting;
    m["values"] = values;
    m["operations"] = operations;
    moments.append(m);
  }
  d["fields"] = fields;
  d["moments"] = moments;
  return d;
}

}  // namespace

NB_MODULE(_native, m) {
  nb::list scenarios;
  for (const auto name : scenario_names) scenarios.append(name);
  m.attr("scenarios") = nb::tuple(scenarios);
  m.def("locks", &locks,
        "Return every lock and variation with its properties; sizes are those on the native platform.");
  m.def("semaphores", &semaphores, "Return every semaphore with its properties.");
  m.def("conditions", &conditions, "Return the condition with its properties.");
  m.def("subjects", &list_subjects, "Return the subjects of the checker, with their scenarios.");
  m.def("mutants", &list_mutants, "Return the planted bugs.");
  m.def("litmus", &run_litmus, "Run the litmus tests under both memory models.");
  m.def("explain", &explain_lock, nb::arg("name"), "Return a contended scenario, step by step.");
  m.def("replay", &replay_schedule, nb::arg("name"), nb::arg("scenario"), nb::arg("threads"), nb::arg("episodes"),
        nb::arg("slots"), nb::arg("memory"), nb::arg("mutant"), nb::arg("schedule"),
        "Follow one schedule. Raise ValueError if it belongs to another scenario.");
  nb::class_<Check>(m, "Check", "One exploration.")
      .def(nb::init<std::string_view, std::string_view, unsigned, unsigned, unsigned, std::string_view,
                    std::string_view, std::uint64_t>(),
           nb::arg("name"), nb::arg("scenario") = "rounds", nb::arg("threads") = 2, nb::arg("episodes") = 1,
           nb::arg("slots") = 1, nb::arg("memory") = "sc", nb::arg("mutant") = "", nb::arg("max_states") = 100'000'000)
      .def("run", &Check::run)
      .def("traces", &Check::traces, nb::arg("reduce"))
      .def("cancel", &Check::cancel)
      .def_prop_ro("states", &Check::states);
}
