// SPDX-License-Identifier: Apache-2.0
// The lock and the platform of an object of the lab. FAIRLOCK_PRELOAD_LOCK names the lock, which may be one that only
// the lab preloads. Its waiters stay awake if FAIRLOCK_PRELOAD_AWAKE is 1. Otherwise they sleep.
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
using ChosenPlatform = std::conditional_t<FAIRLOCK_PRELOAD_AWAKE, AwakePlatform, SleepingPooledPlatform>;

// Locks that only the lab preloads. Their elements belong to an episode, because a thread may end while it holds a
// mutex.
template <FixedString Name>
struct LabLock : Preloadable<ChosenPlatform, Name> {};
template <>
struct LabLock<"mcs"> {
  using Lock = McsLock<ChosenPlatform>;
};
template <>
struct LabLock<"clh"> {
  using Lock = ClhLock<ChosenPlatform>;
};
template <>
struct LabLock<"hemlock"> {
  using Lock = Hemlock<ChosenPlatform, HemlockOptions{.elements = Elements::per_episode}>;
};
template <>
struct LabLock<"reciprocating"> {
  using Lock = ReciprocatingLock<ChosenPlatform, ReciprocatingOptions{.elements = Elements::per_episode}>;
};

using ChosenLock = LabLock<FAIRLOCK_PRELOAD_LOCK>::Lock;
using ChosenSemaphore = semaphore_beside<ChosenPlatform, ChosenLock>;

}  // namespace fairlock::preload
