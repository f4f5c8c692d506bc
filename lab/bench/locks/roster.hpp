// SPDX-License-Identifier: Apache-2.0
// The roster: everything that can be measured. It holds the locks and semaphores of the catalogue under every waiting
// policy that they allow, and the references, which include no lock at all and a broken lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fairlock/waiting/policies.hpp>

#include "harness/arguments.hpp"
#include "locks/measuring_loop.hpp"

namespace bench {

enum class Kind { lock, semaphore, reference };
inline constexpr const char* kind_names[] = {"lock", "semaphore", "reference"};

// Where the episode is: on the stack of a guard, or in the lock. Only a lock that has an episode has the second form.
enum class Form { guard, mutex };
inline constexpr const char* form_names[] = {"guard", "mutex"};

struct Entry {
  std::string name;
  Kind kind;
  const char* order = nullptr;   // of admission; null: a reference
  const char* policy = nullptr;  // the waiting policy; null: no choice
  Form form = Form::guard;
  unsigned max_threads = 0;  // in line at the same time; 0: no bound
  bool permits = false;      // a semaphore, which may have several permits
  bool excludes = true;      // false: each thread has its own data, and exclusion is not checked
  std::unique_ptr<MeasuringLoop> (*make_loop)(Size) = nullptr;
};

using Roster = std::vector<Entry>;

template <class Adapter>
void add(Roster& roster, Entry entry) {
  entry.make_loop = [](Size size) -> std::unique_ptr<MeasuringLoop> {
    return std::make_unique<LoopOver<Adapter>>(size);
  };
  roster.push_back(std::move(entry));
}

// The policies under which small waiting arrays are measured.
using SmallArrayPolicies = fairlock::PolicyList<fairlock::Spin, fairlock::Yield, fairlock::SpinThenPark>;

// The parts of the roster. They take long to compile, so each policy has its own source file (CMakeLists.txt).
void add_references(Roster& roster);
template <class Waiting>
void add_catalogue(Roster& roster);
template <class Waiting>
void add_small_arrays(Roster& roster);

const Roster& roster();
std::vector<std::string> policy_names();

// The entry that --lock, --waiting and --form choose.
const Entry& chosen_entry(Arguments& arguments, unsigned threads);

}  // namespace bench
