// SPDX-License-Identifier: Apache-2.0
#include "locks/roster.hpp"

#include <iterator>

#include "harness/errors.hpp"

namespace bench {
namespace {

// The entries of this name, one for each policy and form.
Roster entries_named(const std::string& name) {
  Roster entries;
  std::vector<std::string> known;
  for (const auto& entry : roster()) {
    if (entry.name == name) entries.push_back(entry);
    const bool small_array = entry.name.find('/') != std::string::npos;
    if (!small_array && !contains(known, entry.name)) known.push_back(entry.name);
  }
  if (entries.empty())
    refuse("--lock: " + (name.empty() ? "choose a lock" : "unknown '" + name + "'") + " (one of: " + joined(known) +
           "; `fairlock_bench list` also shows those with small waiting arrays)");
  return entries;
}

std::string policy_of(const Roster& entries, Arguments& arguments) {
  std::vector<std::string> policies;
  for (const auto& entry : entries)
    if (entry.policy != nullptr && !contains(policies, entry.policy)) policies.emplace_back(entry.policy);
  if (policies.empty()) {
    if (!arguments.text("--waiting", "").empty())
      refuse("--waiting: " + entries.front().name + " has no choice of waiting policy: omit this option");
    return "";
  }
  const bool can_sleep = contains(policies, fairlock::DefaultPolicy::name);
  return arguments.text("--waiting", can_sleep ? fairlock::DefaultPolicy::name : fairlock::DefaultPolicyAwake::name,
                        policies);
}

}  // namespace

const Roster& roster() {
  static const Roster entries = [] {
    Roster roster;
    fairlock::for_each_policy(fairlock::Policies{}, [&]<class Waiting>() { add_catalogue<Waiting>(roster); });
    fairlock::for_each_policy(SmallArrayPolicies{}, [&]<class Waiting>() { add_small_arrays<Waiting>(roster); });
    add_references(roster);
    return roster;
  }();
  return entries;
}

std::vector<std::string> policy_names() {
  return {std::begin(fairlock::Policies::names), std::end(fairlock::Policies::names)};
}

const Entry& chosen_entry(Arguments& arguments, unsigned threads) {
  const std::string name = arguments.text("--lock", "");
  const std::string policy = policy_of(entries_named(name), arguments);
  const std::string form = arguments.text("--form", form_names[0], {std::begin(form_names), std::end(form_names)});
  for (const auto& entry : roster()) {
    if (entry.name != name || (entry.policy != nullptr && entry.policy != policy)) continue;
    if (form_names[static_cast<int>(entry.form)] != form) continue;
    if (entry.max_threads != 0 && threads > entry.max_threads)
      refuse("--threads: " + name + " allows at most " + std::to_string(entry.max_threads) + " threads");
    return entry;
  }
  refuse("--form: " + name + " has no episode to store in the lock: omit this option");
}

}  // namespace bench
