// SPDX-License-Identifier: Apache-2.0
// The waiting policy of a process. The environment variable FAIRLOCK_WAITING names it; `fairlock run` sets it.
//
// A policy matters only to a thread that waits, so one object serves several policies: either all policies whose
// waiters sleep, or all whose waiters stay awake. The two kinds need separate objects: a release looks for a waiter to
// wake only if waiters may sleep.
//
// An object can switch between its policies at any moment, because a policy changes only how a waiter passes its time.
// So a lock that other libraries use before our constructor has run simply has the default policy until then.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

namespace fairlock::preload {

// The policies that an object can have, the default first.
template <class Default, class... Others>
class PolicyChoice {
 public:
  static constexpr bool sleeps = Default::sleeps;
  static_assert(((Others::sleeps == sleeps) && ...));

  static const char* name() { return name_.load(std::memory_order_relaxed); }

  template <class W>
  static bool is() {
    return name() == +W::name;
  }

  // Adopts the policy that the environment names. An unknown name ends the process, which would otherwise run under a
  // policy that the user did not choose.
  static void read_environment() {
    const char* const given = getenv(variable);
    if (given == nullptr || given[0] == '\0') return;
    for (const char* const name : names)
      if (std::string_view(name) == given) return name_.store(name, std::memory_order_relaxed);
    dprintf(STDERR_FILENO, "fairlock: %s=%s: the preloaded object has no such waiting policy; choose from: ", variable,
            given);
    for (const char* const name : names) dprintf(STDERR_FILENO, "%s%s", name == names[0] ? "" : ", ", name);
    dprintf(STDERR_FILENO, "\n");
    _exit(2);
  }

 private:
  static constexpr const char* variable = "FAIRLOCK_WAITING";
  static constexpr const char* names[] = {Default::name, Others::name...};
  static inline constinit std::atomic<const char*> name_{Default::name};
};

}  // namespace fairlock::preload
