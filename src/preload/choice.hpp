// SPDX-License-Identifier: Apache-2.0
// Which lock and which semaphore an object is built from: FAIRLOCK_PRELOAD_LOCK is a name of the catalogue,
// FAIRLOCK_PRELOAD_WAITING a waiting policy.
#pragma once

#include <fairlock/catalogue.hpp>
#include <fairlock/waiting/monitor.hpp>
#include <fairlock/waiting/yield.hpp>

#include "platform.hpp"

namespace fairlock::preload {

template <FixedString Name>
consteval auto policy() {
  constexpr auto name = Name.view();
  if constexpr (name == Spin::name) return Spin{};
  else if constexpr (name == Yield::name) return Yield{};
  else if constexpr (name == Monitor::name) return Monitor{};
  else if constexpr (name == BasicPark<QuietFutex>::name) return BasicPark<QuietFutex>{};
  else if constexpr (name == BasicSpinThenPark<QuietFutex>::name) return BasicSpinThenPark<QuietFutex>{};
}

using Chosen = Preloaded<decltype(policy<FAIRLOCK_PRELOAD_WAITING>())>;

// For the lab: locks whose elements belong to an episode and come from the pool, because a thread may end with a mutex
// in its hands.
template <FixedString Name>
struct ForTheLab {
  using Lock = void;
};
template <>
struct ForTheLab<"mcs"> {
  using Lock = McsLock<Chosen>;
};
template <>
struct ForTheLab<"clh"> {
  using Lock = ClhLock<Chosen>;
};
template <>
struct ForTheLab<"hemlock"> {
  using Lock = Hemlock<Chosen, HemlockOptions{.elements = Elements::per_episode}>;
};
template <>
struct ForTheLab<"reciprocating"> {
  using Lock = ReciprocatingLock<Chosen, ReciprocatingOptions{.elements = Elements::per_episode}>;
};

template <FixedString Name>
auto lock_of() {
  if constexpr (!std::is_void_v<typename ForTheLab<Name>::Lock>) {
    return std::type_identity<typename ForTheLab<Name>::Lock>{};
  } else {
    using Entry = typename decltype(detail::Find<Name, Locks<Chosen>>::find())::type;
    static_assert(Entry::preloadable, "this lock cannot be preloaded");
    return std::type_identity<timed_form<typename Entry::Lock>>{};
  }
}
using ChosenLock = typename decltype(lock_of<FAIRLOCK_PRELOAD_LOCK>())::type;

// FIFO beside a lock that is FIFO; otherwise one that whoever comes by may snatch from.
using ChosenSemaphore =
    std::conditional_t<ChosenLock::properties.order == Order::fifo, semaphore_named<Chosen, "twa-semaphore">,
                       semaphore_named<Chosen, "fair-semaphore">>;

}  // namespace fairlock::preload
