// SPDX-License-Identifier: Apache-2.0
// The part of the roster that comes from the catalogue, for one waiting policy.
#pragma once

#include <fairlock/catalogue.hpp>
#include <fairlock/platform/native.hpp>

#include "locks/roster.hpp"

namespace bench {

template <class E, class Waiting>
Entry catalogue_entry(Kind kind, std::string_view suffix = "") {
  return {.name = std::string(E::name) + std::string(suffix),
          .kind = kind,
          .order = name_of(E::properties.order),
          .policy = Waiting::name,
          .max_threads = E::properties.max_threads};
}

// A lock inside the semaphore that capacitors use. Here every release returns its permit at once.
template <class Waiting, fairlock::FixedString Name>
void add_around(Roster& roster) {
  using P = fairlock::Native<Waiting>;
  using Semaphore = fairlock::TwaSemaphore<P, fairlock::TwaSemaphoreOptions{.fast_path = true, .initial = 10}>;
  add<SemaphoreAround<Semaphore, fairlock::lock_named<P, Name>>>(
      roster,
      {.name = "semaphore-around-" + std::string(Name.view()), .kind = Kind::reference, .policy = Waiting::name});
}

// A capacitor with a platoon of eight, for samples of eight threads or more. The catalogue's platoon of ten promises
// nothing for fewer than ten threads.
template <class Waiting>
void add_small_platoon(Roster& roster) {
  using P = fairlock::Native<Waiting>;
  using Capacitor = fairlock::Wrapped<P, fairlock::LifoLock<P>, fairlock::CapacitorOptions{.platoon = 8}>;
  using E = fairlock::Entry<"capacitor-lifo/platoon-8", Capacitor>;
  add<Guarded<Capacitor>>(roster, catalogue_entry<E, Waiting>(Kind::lock));
}

template <class Waiting>
void add_catalogue(Roster& roster) {
  using P = fairlock::Native<Waiting>;
  fairlock::for_each_entry(fairlock::Locks<P>{}, [&]<class E>() {
    if constexpr (!Waiting::sleeps || E::properties.parkable) {
      add<Guarded<typename E::Lock>>(roster, catalogue_entry<E, Waiting>(Kind::lock));
      if constexpr (!E::context_free) {  // without an episode both forms are the same code
        auto entry = catalogue_entry<E, Waiting>(Kind::lock);
        entry.form = Form::mutex;
        add<Lockable<fairlock::Mutex<typename E::Lock>>>(roster, std::move(entry));
      }
    }
  });
  fairlock::for_each_entry(fairlock::Semaphores<P>{}, [&]<class E>() {
    auto entry = catalogue_entry<E, Waiting>(Kind::semaphore);
    entry.permits = true;
    add<Permits<typename E::Semaphore>>(roster, std::move(entry));
  });
  add_small_platoon<Waiting>(roster);
  add_around<Waiting, "lifo">(roster);
  add_around<Waiting, "tts">(roster);
  add_around<Waiting, "reciprocating">(roster);
  add_around<Waiting, "ticket">(roster);
  add_around<Waiting, "mcs">(roster);
}

}  // namespace bench
