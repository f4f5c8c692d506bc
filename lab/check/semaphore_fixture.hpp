// SPDX-License-Identifier: Apache-2.0
// SemaphoreFixture: the memory and the threads of each scenario of a semaphore.
#pragma once

#include <cstdint>
#include <new>

#include <fairlock/episode.hpp>
#include <fairlock/interrupt.hpp>

#include "check/checked.hpp"
#include "check/domain_state.hpp"
#include "check/scenario.hpp"

namespace fairlock::check {

template <class S>
struct SemaphoreFixture {
  S semaphore;
  CheckedMemory::tally<std::uint64_t> expected;   // permits that the semaphore must have in the end
  CheckedMemory::tally<std::uint64_t> settled;    // threads that have a permit or have given up
  CheckedMemory::atomic<std::uint32_t> returned;  // 1 once the interrupted thread has returned from its wait
  Interrupt<CheckedSleeping> interrupt;

  static SemaphoreFixture& at(void* memory) { return *static_cast<SemaphoreFixture*>(memory); }

  template <std::uint64_t Permits>
  static void construct(void* memory) {
    auto& self = *new (memory) SemaphoreFixture{S(Permits), {}, {}, {}, {}};
    self.expected = Permits;
    supply_domain();
  }

  static void name_words(const void* memory, Names& names) {
    const auto& self = *static_cast<const SemaphoreFixture*>(memory);
    name_fields(names, self.semaphore, "");
    name_fields(names, CheckedMemory::domain(), "");
    names.add_word("returned", "returned", &self.returned, 4);
    name_fields(names, self.interrupt, "interrupt");
  }

  static bool short_of_permits(const void* memory) {
    const auto& self = *static_cast<const SemaphoreFixture*>(memory);
    return domain_in_use() || self.semaphore.value() != static_cast<std::int64_t>(std::uint64_t{self.expected});
  }

  [[gnu::noinline]] void enter() {
    World::current().acquiring(0);
    semaphore.acquire();
    World::current().entered(0);
  }

  [[gnu::noinline]] void leave() {
    World::current().releasing(0);
    semaphore.release();
    World::current().released();
  }

  template <bool Exclusive>
  static void rounds(void* memory, unsigned, unsigned episodes) {
    for (unsigned e = 0; e < episodes; ++e) {
      at(memory).enter();
      if (Exclusive) World::current().access(0);
      at(memory).leave();
    }
  }

  static void tries(void* memory, unsigned thread, unsigned episodes) {
    if (thread != 0) return rounds<true>(memory, thread, episodes);
    auto& world = World::current();
    for (unsigned e = 0; e < episodes; ++e) {
      world.acquiring(0);
      if (at(memory).semaphore.try_acquire()) {
        world.entered(0);
        world.access(0);
        at(memory).leave();
      } else {
        world.gave_way();
      }
    }
  }

  [[gnu::noinline]] void timed_round() {
    World::current().acquiring(0);
    if (semaphore.acquire_until(Deadline{1})) {
      World::current().entered(0);
      leave();
    } else {
      World::current().gave_way();
    }
  }

  template <bool Exclusive>
  static void timed(void* memory, unsigned thread, unsigned episodes) {
    if (thread + 1 == World::current().threads()) return rounds<Exclusive>(memory, thread, episodes);
    for (unsigned e = 0; e < episodes; ++e) at(memory).timed_round();
  }

  static void timed_away(void* memory, unsigned, unsigned episodes) {
    for (unsigned e = 0; e < episodes; ++e) at(memory).timed_round();
  }

  // The first thread releases a permit for each other thread, and some of them may have given up.
  static void timed_posts(void* memory, unsigned thread, unsigned episodes) {
    auto& self = at(memory);
    auto& world = World::current();
    for (unsigned e = 0; e < episodes; ++e) {
      if (thread != 0) {
        world.acquiring(0);
        if (self.semaphore.acquire_until(Deadline{1})) {
          world.entered(0);
          self.expected = self.expected - 1;
        } else {
          world.gave_way();
        }
        continue;
      }
      self.expected = self.expected + world.threads() - 1;
      world.releasing(0);
      self.semaphore.release(world.threads() - 1);
      world.released();
    }
  }

  // A release of two permits passes over the tickets of several leavers, while other threads release one permit each.
  static void timed_batch(void* memory, unsigned thread, unsigned) {
    auto& self = at(memory);
    auto& world = World::current();
    if (thread == 0) {
      self.expected = self.expected + 2;
      world.releasing(0);
      self.semaphore.release(2);
      return world.released();
    }
    world.acquiring(0);
    if (thread + 1 == world.threads()) {
      self.semaphore.acquire();
      world.entered(0);
      self.expected = self.expected - 1;
    } else if (self.semaphore.acquire_until(Deadline{1})) {
      world.entered(0);
      world.releasing(0);
      self.semaphore.release(1);
      world.released();
    } else {
      world.gave_way();
    }
  }

  // The first thread releases a permit for each other thread, all at once. The last of the others to get its permit or
  // to give up destroys the semaphore, possibly while the first thread is still in its release.
  template <bool MayGiveUp>
  static void destroy(void* memory, unsigned thread, unsigned) {
    auto& self = at(memory);
    auto& world = World::current();
    if (thread == 0) {
      world.releasing(0);
      self.semaphore.release(world.threads() - 1);
      return world.released();
    }
    world.acquiring(0);
    if (!MayGiveUp || thread + 1 == world.threads()) {
      self.semaphore.acquire();
      world.entered(0);
    } else if (self.semaphore.acquire_until(Deadline{1})) {
      world.entered(0);
    } else {
      world.gave_way();
    }
    self.settled = self.settled + 1;
    if (self.settled == world.threads() - 1) world.destroyed(0);
  }

  static void interrupted(void* memory, unsigned thread, unsigned episodes) {
    if (thread > 2) return rounds<true>(memory, thread, episodes);
    auto& self = at(memory);
    if (thread == 2) return self.interrupt.raise();
    if (thread == 0) {
      self.enter();
      Checked::await(self.returned, [](auto n) { return n == 1; }, order::acquire);
      return self.leave();
    }
    World::current().acquiring(0);
    if (self.semaphore.acquire_until(Interruptible<CheckedSleeping>{self.interrupt})) {
      World::current().entered(0);
      self.leave();
    } else {
      World::current().gave_way();
    }
    self.returned.store(1, order::release);
  }

  static void posts(void* memory, unsigned thread, unsigned episodes) {
    auto& world = World::current();
    for (unsigned e = 0; e < episodes; ++e) {
      if (thread != 0) {
        at(memory).enter();
        continue;
      }
      world.releasing(0);
      at(memory).semaphore.release(world.threads() - 1);
      world.released();
    }
  }

  static Program program(Scenario scenario, std::uint32_t slots, const DomainOptions&) {
    Program p;
    switch (scenario) {
      case Scenario::permits:
      case Scenario::timed_permits: p.construct = &construct<2>; break;
      case Scenario::posts:
      case Scenario::wrap:
      case Scenario::timed_posts:
      case Scenario::timed_batch:
      case Scenario::timed_away:
      case Scenario::destroy:
      case Scenario::timed_destroy: p.construct = &construct<0>; break;
      default: p.construct = &construct<1>;
    }
    p.name_fields = &name_words;
    p.locked = &short_of_permits;
    p.fixture_size = sizeof(SemaphoreFixture);
    p.lock_size = sizeof(S);
    p.order = checked_order(S::properties.order);
    p.bypass = S::properties.bypass;
    p.symmetric =
        (scenario == Scenario::rounds || scenario == Scenario::permits) && (slots == 1 || !S::properties.waiting_array);
    switch (scenario) {
      case Scenario::try_: p.body = &tries; break;
      case Scenario::timed:
      case Scenario::full_table: p.body = &timed<true>; break;
      case Scenario::interrupt: p.body = &interrupted; break;
      case Scenario::destroy:
        p.body = &destroy<false>;
        p.permits = any_number;
        p.locked = &domain_still_in_use;
        break;
      case Scenario::timed_destroy:
        p.body = &destroy<true>;
        p.permits = any_number;
        p.locked = &domain_still_in_use;
        break;
      case Scenario::wrap:
        p.body = &posts;
        p.permits = any_number;
        p.starts_near_limits = true;
        break;
      case Scenario::timed_permits:
        p.body = &timed<false>;
        p.permits = 2;
        break;
      case Scenario::timed_away:
        p.body = &timed_away;
        p.permits = any_number;
        break;
      case Scenario::timed_posts:
        p.body = &timed_posts;
        p.permits = any_number;
        break;
      case Scenario::timed_batch:
        p.body = &timed_batch;
        p.permits = any_number;
        break;
      case Scenario::permits:
        p.body = &rounds<false>;
        p.permits = 2;
        break;
      case Scenario::posts:
        p.body = &posts;
        p.permits = any_number;
        break;
      default: p.body = &rounds<true>;
    }
    return p;
  }
};

}  // namespace fairlock::check
