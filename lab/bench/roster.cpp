// SPDX-License-Identifier: Apache-2.0
#include "roster.hpp"

#include <fairlock/waiting/monitor.hpp>
#include <fairlock/waiting/park.hpp>
#include <fairlock/waiting/spin.hpp>
#include <fairlock/waiting/yield.hpp>

namespace bench {
namespace {

// Without a choice: sleep in the end, if the lock's waiters can.
constexpr const char* preferred[] = {fairlock::SpinThenPark::name, fairlock::Yield::name};

Roster named(const std::string& name) {
  Roster found;
  std::vector<std::string> known;
  for (const auto& entry : roster()) {
    if (entry.name == name) found.push_back(entry);
    const bool small_array = entry.name.find('/') != std::string::npos;
    if (!small_array && !contains(known, entry.name)) known.push_back(entry.name);
  }
  if (found.empty())
    refuse("--lock: " + (name.empty() ? "which" : "unknown '" + name + "'") + " (one of: " + joined(known) +
           "; with small waiting arrays: as `fairlock_bench list` shows)");
  return found;
}

std::string policy_of(const Roster& entries, Arguments& arguments) {
  std::vector<std::string> policies;
  for (const auto& entry : entries)
    if (entry.policy != nullptr && !contains(policies, entry.policy)) policies.emplace_back(entry.policy);
  if (policies.empty()) {
    if (!arguments.text("--waiting", "").empty())
      refuse("--waiting: " + entries.front().name + " has no choice of waiting: leave it out");
    return "";
  }
  const bool sleeps = contains(policies, preferred[0]);
  return arguments.text("--waiting", preferred[sleeps ? 0 : 1], policies);
}

}  // namespace

const Roster& roster() {
  static const Roster all = [] {
    Roster roster;
    add_catalogue<fairlock::Spin>(roster);
    add_catalogue<fairlock::Yield>(roster);
    add_catalogue<fairlock::Monitor>(roster);
    add_catalogue<fairlock::Park>(roster);
    add_catalogue<fairlock::SpinThenPark>(roster);
    add_small_arrays<fairlock::Spin>(roster);
    add_small_arrays<fairlock::Yield>(roster);
    add_small_arrays<fairlock::SpinThenPark>(roster);
    add_references(roster);
    return roster;
  }();
  return all;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const auto& entry : roster())
    if (entry.policy != nullptr && !contains(names, entry.policy)) names.emplace_back(entry.policy);
  return names;
}

const Entry& chosen(Arguments& arguments, unsigned threads) {
  const std::string name = arguments.text("--lock", "");
  const std::string policy = policy_of(named(name), arguments);
  const std::string form = arguments.text("--form", form_names[0], {std::begin(form_names), std::end(form_names)});
  for (const auto& entry : roster()) {
    if (entry.name != name || (entry.policy != nullptr && entry.policy != policy)) continue;
    if (form_names[static_cast<int>(entry.form)] != form) continue;
    if (entry.max_threads != 0 && threads > entry.max_threads)
      refuse("--threads: " + name + " is made for at most " + std::to_string(entry.max_threads) + " threads");
    return entry;
  }
  refuse("--form: " + name + " keeps no episode in its body: leave it out");
}

}  // namespace bench
