// SPDX-License-Identifier: Apache-2.0
// From a catalogue entry to a row of the table. Only the files that compile the locks include it.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fairlock/fairlock.hpp>

#include "any_lock.hpp"
#include "hooked.hpp"

// With FAIRLOCK_TEST_JITTER, the locks run on a platform that disturbs them between any two steps.
#ifdef FAIRLOCK_TEST_JITTER
template <class P>
using Tested = Jittery<P>;
#else
template <class P>
using Tested = P;
#endif

template <class L>
AnyLock::Episode pack(typename L::Episode episode) {
  static_assert(std::is_trivially_copyable_v<typename L::Episode> && sizeof(episode) <= sizeof(AnyLock::Episode));
  AnyLock::Episode packed{};
  std::memcpy(&packed, &episode, sizeof episode);
  return packed;
}

template <class L>
typename L::Episode unpack(AnyLock::Episode packed) {
  typename L::Episode episode;
  std::memcpy(&episode, &packed, sizeof episode);
  return episode;
}

template <class E>
constexpr AnyLock any_lock_of() {
  using L = typename E::Lock;
  using M = fairlock::Mutex<L>;
  AnyLock row{};
  row.name = E::name;
  row.properties = E::properties;
  row.try_lock = E::try_lock;
  row.context_free = E::context_free;
  row.trivial_lock = std::is_trivially_destructible_v<L>;
  row.trivial_mutex = std::is_trivially_destructible_v<M>;
  row.size = sizeof(L), row.alignment = alignof(L);
  row.mutex_size = sizeof(M), row.mutex_alignment = alignof(M);
  row.episode_size = E::context_free ? 0 : sizeof(typename L::Episode);

  row.construct = [](void* lock) { ::new (lock) L(); };
  row.destroy = [](void* lock) { std::destroy_at(static_cast<L*>(lock)); };
  row.acquire = [](void* lock) { return pack<L>(static_cast<L*>(lock)->acquire()); };
  row.release = [](void* lock, AnyLock::Episode episode) { static_cast<L*>(lock)->release(unpack<L>(episode)); };
  row.locked = [](const void* lock) { return static_cast<const L*>(lock)->locked(); };
  row.guard = [](void* lock, AnyLock::Body body, void* argument) {
    fairlock::Guard guard(*static_cast<L*>(lock));
    body(argument);
  };
  row.with = [](void* lock, AnyLock::Body body, void* argument) {
    fairlock::with(*static_cast<L*>(lock), [=] { body(argument); });
  };
  row.mutex_construct = [](void* mutex) { ::new (mutex) M(); };
  row.mutex_destroy = [](void* mutex) { std::destroy_at(static_cast<M*>(mutex)); };
  row.mutex_lock = [](void* mutex) { static_cast<M*>(mutex)->lock(); };
  row.mutex_unlock = [](void* mutex) { static_cast<M*>(mutex)->unlock(); };
  if constexpr (E::try_lock) {
    row.try_acquire = [](void* lock, AnyLock::Episode& episode) {
      const auto got = static_cast<L*>(lock)->try_acquire();
      if (got) episode = pack<L>(*got);
      return got.has_value();
    };
    row.mutex_try_lock = [](void* mutex) { return static_cast<M*>(mutex)->try_lock(); };
  }
  return row;
}

// One row for every entry of list(P), each on a platform whose domain has the options that the entry needs.
template <class List>
constexpr auto rows_of(List list) {
  using fairlock::EntryList, fairlock::Native, fairlock::Yield;
  constexpr auto entry = []<std::size_t I, class... E>(std::integral_constant<std::size_t, I>, EntryList<E...>) {
    return std::type_identity<std::tuple_element_t<I, std::tuple<E...>>>{};
  };
  return [=]<class... E>(EntryList<E...>) {
    return [=]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{any_lock_of<typename decltype(entry(
          std::integral_constant<std::size_t, I>{},
          list.template operator()<Tested<Native<Yield, E::domain>>>()))::type>()...};
    }(std::index_sequence_for<E...>{});
  }(list.template operator()<Native<>>());
}
