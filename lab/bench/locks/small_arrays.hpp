// SPDX-License-Identifier: Apache-2.0
// The part of the roster with small waiting arrays, in which waiters collide: every lock and semaphore of the catalogue
// that uses a waiting array, for one waiting policy.
#pragma once

#include "locks/catalogue.hpp"

namespace bench {

template <class Waiting, std::uint32_t Slots>
void add_with_slots(Roster& roster) {
  using P = fairlock::Native<Waiting, fairlock::DomainOptions{.slots = Slots}>;
  const std::string suffix = "/slots-" + std::to_string(Slots);
  fairlock::for_each_entry(fairlock::Locks<P>{}, [&]<class E>() {
    if constexpr (E::properties.waiting_array && (!Waiting::sleeps || E::properties.parkable))
      add<Guarded<typename E::Lock>>(roster, catalogue_entry<E, Waiting>(Kind::lock, suffix));
  });
  fairlock::for_each_entry(fairlock::Semaphores<P>{}, [&]<class E>() {
    if constexpr (E::properties.waiting_array) {
      auto entry = catalogue_entry<E, Waiting>(Kind::lock, suffix);
      entry.permits = true;
      add<Permits<typename E::Semaphore>>(roster, std::move(entry));
    }
  });
}

template <class Waiting>
void add_small_arrays(Roster& roster) {
  add_with_slots<Waiting, 1>(roster);
  add_with_slots<Waiting, 4>(roster);
  add_with_slots<Waiting, 64>(roster);
}

}  // namespace bench
