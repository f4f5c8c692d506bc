// SPDX-License-Identifier: Apache-2.0
// What an object of the lab is built from: the lock that FAIRLOCK_PRELOAD_LOCK names, which may be one that only the
// lab preloads. Its waiters stay awake if FAIRLOCK_PRELOAD_AWAKE is 1; otherwise they sleep.
#pragma once

#include <fairlock/waiting/monitor.hpp>
#include <fairlock/waiting/policies.hpp>

#include "pool.hpp"
#include "preloadable.hpp"

namespace fairlock::preload {

using AwakePolicies = PolicyChoice<Yield, Spin, Monitor>;

struct AwakeWaiting : Monitor {
  template <class F>
  [[gnu::noinline]] void step(const void* word, const F& unchanged) {
    if (AwakePolicies::is<Yield>()) Yield::step(word, unchanged);
    else if (AwakePolicies::is<Spin>()) Spin::step(word, unchanged);
    else Monitor::step(word, unchanged);
  }
};

struct AwakePlatform : CountsParks<Pooled<PosixWaiting<NativeWaiting<AwakeWaiting, options>>>> {
  using WaitingPolicies = AwakePolicies;
};
struct SleepingPooledPlatform : Sleeping<CountsParks<Pooled<SleepingBase>>> {
  using WaitingPolicies = SleepingPolicies;
};
using Chosen = std::conditional_t<FAIRLOCK_PRELOAD_AWAKE, AwakePlatform, SleepingPooledPlatform>;

// Locks that only the lab preloads. Their elements belong to an episode, because a thread may end while it holds a
// mutex.
template <FixedString Name>
struct OfTheLab : Preloadable<Chosen, Name> {};
template <>
struct OfTheLab<"mcs"> {
  using Lock = McsLock<Chosen>;
};
template <>
struct OfTheLab<"clh"> {
  using Lock = ClhLock<Chosen>;
};
template <>
struct OfTheLab<"hemlock"> {
  using Lock = Hemlock<Chosen, HemlockOptions{.elements = Elements::per_episode}>;
};
template <>
struct OfTheLab<"reciprocating"> {
  using Lock = ReciprocatingLock<Chosen, ReciprocatingOptions{.elements = Elements::per_episode}>;
};

using ChosenLock = OfTheLab<FAIRLOCK_PRELOAD_LOCK>::Lock;
using ChosenSemaphore = semaphore_beside<Chosen, ChosenLock>;

}  // namespace fairlock::preload
