// SPDX-License-Identifier: Apache-2.0
// What can be measured: the catalogue's locks and semaphores under every waiting policy that they allow, the
// references, no lock at all, and a broken lock.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "measured.hpp"

namespace bench {

enum class Kind { lock, semaphore, reference };
inline constexpr const char* kind_names[] = {"lock", "semaphore", "reference"};

// Where the episode is kept: on the stack, or in the lock's body. A lock without one has only the first.
enum class Form { guard, mutex };
inline constexpr const char* form_names[] = {"guard", "mutex"};

struct Entry {
  std::string name;
  Kind kind;
  const char* order = nullptr;   // in which the catalogue's locks admit
  const char* policy = nullptr;  // how waiters wait; null: no choice
  Form form = Form::guard;
  unsigned max_threads = 0;  // in line at once; 0: no bound
  bool permits = false;      // it is a semaphore, and may have several
  bool excludes = true;      // false: each thread works on data of its own, and exclusion is not checked
  std::unique_ptr<Measured> (*make)(Size) = nullptr;
};

using Roster = std::vector<Entry>;

template <class Subject>
void add(Roster& to, Entry entry) {
  entry.make = [](Size size) -> std::unique_ptr<Measured> { return std::make_unique<MeasuredSubject<Subject>>(size); };
  to.push_back(std::move(entry));
}

// The parts of the roster, each in files of its own because they take long to compile.
void add_references(Roster& to);
template <class Waiting>
void add_catalogue(Roster& to);
template <class Waiting>
void add_small_arrays(Roster& to);

const Roster& roster();
std::vector<std::string> policy_names();

// The one that --lock, --waiting and --form ask for.
const Entry& chosen(Arguments& arguments, unsigned threads);

}  // namespace bench
