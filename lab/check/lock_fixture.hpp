// SPDX-License-Identifier: Apache-2.0
// LockFixture: the memory and the threads of each scenario of a lock.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>

#include <fairlock/episode.hpp>
#include <fairlock/interrupt.hpp>

#include "check/checked.hpp"
#include "check/domain_state.hpp"
#include "check/scenario.hpp"

namespace fairlock::check {

template <class L>
struct LockFixture {
  using Episode = typename L::Episode;
  static constexpr std::size_t parcel_words = std::is_empty_v<Episode> ? 0 : (sizeof(Episode) + 7) / 8;

  L locks[max_locks];
  CheckedMemory::atomic<std::uint32_t> parcels;  // twice the number handed over so far, plus one while a parcel waits
  CheckedMemory::plain<std::uint64_t> parcel[parcel_words + 1];
  CheckedMemory::plain<std::uint64_t> gone;
  CheckedMemory::tally<std::uint64_t> settled;    // threads that have entered or given up, and will not return
  CheckedMemory::atomic<std::uint32_t> returned;  // 1 once the interrupted thread has returned from its wait
  Interrupt<CheckedSleeping> interrupt;

  static LockFixture& at(void* memory) { return *static_cast<LockFixture*>(memory); }

  static void construct(void* memory) {
    new (memory) LockFixture;
    supply_domain();
  }

  static void name_words(const void* memory, Names& names) {
    const auto& self = *static_cast<const LockFixture*>(memory);
    name_fields(names, self.locks[0], "");
    name_fields(names, self.locks[1], "lock2");
    name_fields(names, CheckedMemory::domain(), "");
    names.add_word("parcels", "parcels", &self.parcels, 4);
    names.add_word("returned", "returned", &self.returned, 4);
    name_fields(names, self.interrupt, "interrupt");
  }

  static bool locked(const void* memory) {
    const auto& self = *static_cast<const LockFixture*>(memory);
    if (domain_in_use()) return true;
    return self.locks[0].locked() || self.locks[1].locked();
  }

  // These three are not inlined, so that what they leave in registers and on the stack does not make equal states look
  // different.
  [[gnu::noinline]] Episode enter(unsigned lock = 0) {
    World::current().acquiring(lock);
    Episode episode = locks[lock].acquire();
    World::current().entered(lock);
    return episode;
  }

  [[gnu::noinline]] void leave(Episode episode, unsigned lock = 0) {
    World::current().releasing(lock);
    locks[lock].release(episode);
    World::current().released();
  }

  [[gnu::noinline]] void round() {
    const Episode episode = enter();
    World::current().access(0);
    leave(episode);
  }

  static void rounds(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    for (unsigned e = 0; e < episodes; ++e) at(memory).round();
  }

  static void tries(void* memory, unsigned thread, unsigned episodes) {
    if constexpr (TryLock<L>) {
      if (thread != 0) return rounds(memory, thread, episodes);
      supply_thread(thread);
      auto& self = at(memory);
      auto& world = World::current();
      for (unsigned e = 0; e < episodes; ++e) {
        world.acquiring(0);
        if (auto episode = self.locks[0].try_acquire()) {
          world.entered(0);
          world.access(0);
          self.leave(*episode);
        } else {
          world.gave_way();
        }
      }
    }
  }

  // The checker decides when the thread gives up: the deadline only allows it.
  [[gnu::noinline]] void timed_round() {
    if constexpr (TimedLock<L>) {
      World::current().acquiring(0);
      if (auto episode = locks[0].acquire_until(Deadline{1})) {
        World::current().entered(0);
        World::current().access(0);
        leave(*episode);
      } else {
        World::current().gave_way();
      }
    }
  }

  static void timed(void* memory, unsigned thread, unsigned episodes) {
    if (thread + 1 == World::current().threads()) return rounds(memory, thread, episodes);
    supply_thread(thread);
    for (unsigned e = 0; e < episodes; ++e) at(memory).timed_round();
  }

  // A thread that enters after every other thread has entered or given up destroys the lock after its release.
  static void timed_destroy(void* memory, unsigned thread, unsigned) {
    if constexpr (TimedLock<L>) {
      supply_thread(thread);
      auto& self = at(memory);
      auto& world = World::current();
      const bool may_give_up = thread + 1 != world.threads();
      world.acquiring(0);
      auto episode = may_give_up ? self.locks[0].acquire_until(Deadline{1}) : std::optional(self.locks[0].acquire());
      if (episode) {
        world.entered(0);
        world.access(0);
      } else {
        world.gave_way();
      }
      self.settled = self.settled + 1;
      const bool last = self.settled == world.threads();
      if (!episode) return;
      self.leave(*episode);
      if (last) world.destroyed(0);
    }
  }

  static void interrupted(void* memory, unsigned thread, unsigned episodes) {
    if constexpr (TimedLock<L>) {
      if (thread > 2) return rounds(memory, thread, episodes);
      supply_thread(thread);
      auto& self = at(memory);
      if (thread == 2) return self.interrupt.raise();
      if (thread == 0) {
        const Episode episode = self.enter();
        Checked::await(self.returned, [](auto n) { return n == 1; }, order::acquire);
        return self.leave(episode);
      }
      World::current().acquiring(0);
      if (auto episode = self.locks[0].acquire_until(Interruptible<CheckedSleeping>{self.interrupt})) {
        World::current().entered(0);
        self.leave(*episode);
      } else {
        World::current().gave_way();
      }
      self.returned.store(1, order::release);
    }
  }

  static void oblivious(void* memory, unsigned thread, unsigned episodes) {
    if (thread > 1) return rounds(memory, thread, episodes);
    supply_thread(thread);
    auto& self = at(memory);
    auto& world = World::current();
    for (unsigned e = 0; e < episodes; ++e) {
      if (thread == 0) {
        const Episode episode = self.enter();
        world.access(0);
        std::uint64_t words[parcel_words + 1] = {};
        if constexpr (parcel_words != 0) std::memcpy(words, &episode, sizeof episode);
        for (std::size_t i = 0; i < parcel_words; ++i) self.parcel[i] = words[i];
        self.parcels.store(2 * e + 1, order::release);
        Checked::await(self.parcels, [=](auto n) { return n == 2 * e + 2; }, order::acquire);
      } else {
        Checked::await(self.parcels, [=](auto n) { return n == 2 * e + 1; }, order::acquire);
        Episode episode{};
        std::uint64_t words[parcel_words + 1];
        for (std::size_t i = 0; i < parcel_words; ++i) words[i] = self.parcel[i];
        if constexpr (parcel_words != 0) std::memcpy(&episode, words, sizeof episode);
        self.leave(episode);
        self.parcels.store(2 * e + 2, order::release);
      }
    }
  }

  static void several(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    auto& self = at(memory);
    for (unsigned e = 0; e < episodes; ++e) {
      const Episode first = self.enter(0);
      const Episode second = self.enter(1);
      World::current().access(1);
      World::current().access(0);
      self.leave(first, 0);
      self.leave(second, 1);
    }
  }

  static void destroy(void* memory, unsigned thread, unsigned) {
    supply_thread(thread);
    auto& self = at(memory);
    const Episode episode = self.enter();
    World::current().access(0);
    const auto gone = self.gone + 1;
    self.gone = gone;
    self.leave(episode);
    if (gone == World::current().threads()) World::current().destroyed(0);
  }

  static Program program(Scenario scenario, std::uint32_t slots, const DomainOptions& domain) {
    Program p;
    // With several slots, threads differ by the slots of their hapaxes. With few thread numbers, only some have one.
    p.symmetric = scenario != Scenario::try_ && !uses_timed_form(scenario) && scenario != Scenario::oblivious &&
                  (slots == 1 || !L::properties.waiting_array) && domain.threads >= max_threads &&
                  domain.lane == Lane::first;
    p.construct = &construct;
    p.name_fields = &name_words;
    p.locked = &locked;
    p.fixture_size = sizeof(LockFixture);
    p.lock_size = sizeof(L);
    p.order = checked_order(L::properties.order);
    p.bypass = L::properties.bypass;
    switch (scenario) {
      case Scenario::try_: p.body = &tries; break;
      case Scenario::timed:
      case Scenario::full_table: p.body = &timed; break;
      case Scenario::timed_destroy:
        p.body = &timed_destroy;
        p.locked = &domain_still_in_use;
        break;
      case Scenario::interrupt: p.body = &interrupted; break;
      case Scenario::wrap:
        p.body = &rounds;
        p.starts_near_limits = true;
        break;
      case Scenario::oblivious: p.body = &oblivious; break;
      case Scenario::several:
        p.body = &several;
        p.locks = 2;
        break;
      case Scenario::destroy:
        p.body = &destroy;
        p.locked = &domain_still_in_use;
        break;
      default: p.body = &rounds;
    }
    return p;
  }
};

}  // namespace fairlock::check
