// What the command line asks for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A part of the benchmark, and what it gets unless the command line says otherwise.
struct Part {
  const char* name;
  double seconds;
  unsigned rounds;
  bool wanted = true;
};

struct Options {
  Part uncontended{"uncontended", 10, 41};
  Part contended{"contended", 30, 41};
  Part semaphores{"semaphores", 15, 41};
  Part oversubscribed{"oversubscribed", 180, 5};

  unsigned threads = 2;   // that contend, each with a processor if there are enough
  unsigned crowd = 32;    // that contend in the oversubscribed part
  unsigned hogs = 2;      // processes that burn CPU beside them
  std::vector<std::string> locks;     // of the catalogue; empty: all
  std::vector<std::string> policies;  // how waiters wait; empty: each part its own

  std::vector<Part*> parts() { return {&uncontended, &contended, &semaphores, &oversubscribed}; }
};

Options parse(int argc, char** argv);

inline bool contains(const std::vector<std::string>& names, std::string_view name) {
  for (const auto& one : names)
    if (one == name) return true;
  return false;
}

// "a, b, c", for a message that lists the choices.
template <class Names>
std::string joined(const Names& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

}  // namespace bench
