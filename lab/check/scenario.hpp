// SPDX-License-Identifier: Apache-2.0
// Scenarios: what the threads of a check do with a lock.
//
//   rounds      every thread acquires and releases, again and again
//   try         the same, but the first thread only tries
//   oblivious   the first thread acquires, the second releases what it acquired, the others do rounds
//   several     every thread holds two locks at once and releases the first one first
//   timed       every thread but the last may give up while it waits, and come back for its next episode
//   destroy     the last thread to leave destroys the lock as soon as it has released it; a semaphore: as in posts, and
//               the last thread to get its permit destroys the semaphore
//   timed-destroy  the same, with threads that may give up
//   full-table  timed, with room for one thread in the table of leavers: the other threads wait at the door (line/leavers.hpp)
//   interrupt   the first thread holds the lock until the second returns from its wait, which the third interrupts; the
//               others do rounds
//   wrap        rounds, with counters that start just below their limits; a semaphore: posts
//   permits     (semaphores) rounds with two permits
//   posts       (semaphores) the first thread releases permits for all the others at once, and they acquire
//   timed-permits, timed-posts (semaphores) the same, with threads that may give up
//   timed-batch (semaphores) the first thread releases two permits at once, the last thread acquires one, and the
//               threads between may give up, or release the permit that they get
//   timed-away  (semaphores) nobody ever gives a permit, and everybody gives up
//   notify, notify-all, notify-timed, notify-destroy (conditions) conditions.hpp
//   record      (seqlock) all but the last thread write, the last reads
#pragma once

#include <cstring>
#include <string_view>
#include <type_traits>

#include <fairlock/episode.hpp>
#include <fairlock/hapax_seqlock.hpp>
#include <fairlock/interrupt.hpp>

#include "check/checked.hpp"

namespace fairlock::check {

enum class Scenario {
  rounds,
  try_,
  timed,
  oblivious,
  several,
  destroy,
  timed_destroy,
  full_table,
  interrupt,
  wrap,
  permits,
  posts,
  timed_permits,
  timed_posts,
  timed_batch,
  timed_away,
  notify,
  notify_all,
  notify_timed,
  notify_destroy,
  record,
};
inline constexpr std::string_view scenario_names[] = {
    "rounds",      "try",        "timed",  "oblivious",  "several",      "destroy",        "timed-destroy",
    "full-table",  "interrupt",  "wrap",   "permits",    "posts",        "timed-permits",  "timed-posts",
    "timed-batch", "timed-away", "notify", "notify-all", "notify-timed", "notify-destroy", "record",
};

// Whether the scenario uses the form of the lock whose waiters may leave.
constexpr bool uses_timed_form(Scenario scenario) {
  return scenario == Scenario::timed || scenario == Scenario::timed_destroy || scenario == Scenario::full_table ||
         scenario == Scenario::interrupt;
}

// Every thread begins with a block of hapaxes in hand, as if it had been here before: who fetches its first block first
// makes no difference worth exploring. The variations with small blocks or lanes do fetch them.
inline bool supplied(const DomainOptions& options) {
  return options.lane == Lane::first && options.block_bits == DomainOptions{}.block_bits;
}

inline void supply_domain() {
  if (supplied(Checked::options())) {
    auto& blocks = Checked::domain().lanes[0].blocks;
    World::current().write(reinterpret_cast<std::uintptr_t>(&blocks), 8, World::current().threads());
  }
}

inline void supply_thread(unsigned thread) {
  if (supplied(Checked::options()))
    Checked::local<HapaxSupply>().next = (std::uint64_t{thread + 1} << Checked::options().block_bits) + 1;
}

// Whether anything was left behind in the domain: a visible waiter (a collision for ever), an entry of somebody who
// left, an element on a chain.
inline bool domain_in_use() {
  const auto& domain = CheckedMemory::domain();
  for (std::uint32_t i = 0; i < CheckedMemory::max_slots; ++i) {
    if (domain.visible[i].load(order::relaxed) != 0) return true;
    const auto top = reinterpret_cast<std::uintptr_t>(domain.chains[i].load(order::relaxed));
    if (top != 0 && (top & 1) == 0) return true;
  }
  for (const auto& entry : domain.leaver_table)
    if ((entry.state.load(order::relaxed) & 3) != 0) return true;
  return domain.reserved.load(order::relaxed) != 0;
}

// Once the lock has been destroyed, only the domain can be checked.
inline bool domain_still_in_use(const void*) { return domain_in_use(); }

// With so few threads and episodes, what is passed by while it is the first in line is passed by all in all.
constexpr Order checked_order(Order order) { return order == Order::at_head ? Order::bounded : order; }

template <class L>
struct Fixture {
  using Episode = typename L::Episode;
  static constexpr std::size_t parcel_words = std::is_empty_v<Episode> ? 0 : (sizeof(Episode) + 7) / 8;

  L locks[max_locks];
  CheckedMemory::atomic<std::uint32_t> parcels;  // handed over so far, times two; odd while one lies there
  CheckedMemory::plain<std::uint64_t> parcel[parcel_words + 1];
  CheckedMemory::plain<std::uint64_t> gone;
  CheckedMemory::tally<std::uint64_t> settled;    // threads that have entered or given up, and will not come back
  CheckedMemory::atomic<std::uint32_t> returned;  // 1 once the interrupted thread has returned from its wait
  Interrupt<CheckedSleeping> interrupt;

  static Fixture& at(void* memory) { return *static_cast<Fixture*>(memory); }

  static void construct(void* memory) {
    new (memory) Fixture;
    supply_domain();
  }

  static void visit(const void* memory, World& world) {
    const auto& self = *static_cast<const Fixture*>(memory);
    register_fields(world, self.locks[0], "");
    register_fields(world, self.locks[1], "lock2");
    register_fields(world, CheckedMemory::domain(), "");
    world.name("parcels", nobody, &self.parcels, 4, "");
    world.name("returned", nobody, &self.returned, 4, "");
    register_fields(world, self.interrupt, "interrupt");
  }

  static bool locked(const void* memory) {
    const auto& self = *static_cast<const Fixture*>(memory);
    if (domain_in_use()) return true;
    return self.locks[0].locked() || self.locks[1].locked();
  }

  // Not inlined, all three: when they return, whatever they left in registers and on the stack is gone, and does not
  // make equal states look different.
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

  // When it gives up is for the checker to decide: the deadline only says that it may.
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

  // A thread that enters when every other thread has entered or given up destroys the lock once it has released it.
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
    // With several slots, threads differ by which of them their hapaxes fall on; with few numbers, by who has one.
    p.symmetric = scenario != Scenario::try_ && !uses_timed_form(scenario) && scenario != Scenario::oblivious &&
                  (slots == 1 || !L::properties.waiting_array) && domain.threads >= max_threads &&
                  domain.lane == Lane::first;
    p.construct = &construct;
    p.visit = &visit;
    p.locked = &locked;
    p.fixture_size = sizeof(Fixture);
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

template <class S>
struct SemaphoreFixture {
  S semaphore;
  CheckedMemory::tally<std::uint64_t> expected;   // permits that must be there in the end
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

  static void visit(const void* memory, World& world) {
    const auto& self = *static_cast<const SemaphoreFixture*>(memory);
    register_fields(world, self.semaphore, "");
    register_fields(world, CheckedMemory::domain(), "");
    world.name("returned", nobody, &self.returned, 4, "");
    register_fields(world, self.interrupt, "interrupt");
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

  // The first thread gives a permit for each of the others, who may not want it any more.
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

  // The first thread releases a permit for each of the others, all at once. The last of the others to get its permit or
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
    p.visit = &visit;
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
        p.permits = 255;
        p.locked = &domain_still_in_use;
        break;
      case Scenario::timed_destroy:
        p.body = &destroy<true>;
        p.permits = 255;
        p.locked = &domain_still_in_use;
        break;
      case Scenario::wrap:
        p.body = &posts;
        p.permits = 255;
        p.starts_near_limits = true;
        break;
      case Scenario::timed_permits:
        p.body = &timed<false>;
        p.permits = 2;
        break;
      case Scenario::timed_away:
        p.body = &timed_away;
        p.permits = 255;
        break;
      case Scenario::timed_posts:
        p.body = &timed_posts;
        p.permits = 255;
        break;
      case Scenario::timed_batch:
        p.body = &timed_batch;
        p.permits = 255;
        break;
      case Scenario::permits:
        p.body = &rounds<false>;
        p.permits = 2;
        break;
      case Scenario::posts:
        p.body = &posts;
        p.permits = 255;
        break;
      default: p.body = &rounds<true>;
    }
    return p;
  }
};

// The seqlock's record is two words that every writer sets to the same value.
struct RecordFixture {
  struct Record {
    std::uint64_t left, right;
  };
  HapaxSeqlock<Checked, Record> record;
  CheckedMemory::tally<std::uint64_t> meetings;  // writes that say they met another

  static void construct(void* memory) {
    new (memory) RecordFixture;
    supply_domain();
  }
  static void visit(const void* memory, World& world) {
    register_fields(world, static_cast<const RecordFixture*>(memory)->record, "");
    register_fields(world, CheckedMemory::domain(), "");
  }

  static void body(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    auto& self = *static_cast<RecordFixture*>(memory);
    auto& world = World::current();
    for (unsigned e = 0; e < episodes; ++e) {
      world.acquiring(0);  // the phase that mutations name
      if (thread + 1 < world.threads()) {
        const std::uint64_t value = thread * 100 + e + 1;
        if (!self.record.write({value, value})) self.meetings = self.meetings + 1;
      } else if (const auto copy = self.record.read(); copy && copy->left != copy->right) {
        world.stop(Property::torn, "a copy of " + std::to_string(copy->left) + " and " + std::to_string(copy->right) +
                                       " was taken for whole");
      }
    }
  }

  // If no write met another, the record is whole.
  static bool unreadable(const void* memory) {
    const auto& self = *static_cast<const RecordFixture*>(memory);
    return self.meetings == 0 && !self.record.read();
  }

  static Program program() {
    Program p;
    p.locked = &unreadable;
    p.construct = &construct;
    p.visit = &visit;
    p.body = &body;
    p.fixture_size = sizeof(RecordFixture);
    p.lock_size = sizeof(RecordFixture);
    return p;
  }
};

}  // namespace fairlock::check
