// SPDX-License-Identifier: Apache-2.0
// ConditionFixture: the memory and the threads of each scenario of a condition, over a lock of the catalogue.
//
// A lost or stolen notification is a deadlock. The fixture checks the rest: a notification goes to the oldest waiter,
// and not to a thread that began to wait after it.
#pragma once

#include <cstdint>
#include <new>

#include <fairlock/condition.hpp>

#include "check/checked.hpp"
#include "check/domain_state.hpp"
#include "check/scenario.hpp"

namespace fairlock::check {

template <class P, class L>
struct ConditionFixture {
  // The lock, which reports to the world what threads do with it.
  struct alignas(32) Lock {
    using Episode = typename L::Episode;
    static constexpr Properties properties = L::properties;
    L lock;

    Episode acquire() {
      World::current().acquiring(0);
      const Episode episode = lock.acquire();
      World::current().entered(0);
      World::current().access(0);
      return episode;
    }
    void release(Episode episode) {
      World::current().releasing(0);
      lock.release(episode);
      World::current().released();
      World::current().acquiring(condition_number);  // the thread may wait for a notification
    }
    bool locked() const { return lock.locked(); }
  };

  static constexpr unsigned condition_number = 1, most_waits = 12;
  static constexpr std::uint64_t all = 100;  // what a notify_all adds to the count of notifications

  Lock lock;
  alignas(32) Condition<P> condition;
  alignas(32) CheckedMemory::plain<std::uint64_t> tokens;
  CheckedMemory::tally<std::uint64_t> waiting, gone;  // threads that have begun and ended a wait in `destroy`
  CheckedMemory::tally<std::uint64_t> begun, ended;   // counts of notifications
  CheckedMemory::tally<std::uint64_t> waits;          // count of waits that have begun
  // For each wait: how many notifications had begun when it was notified. 0: it has not been notified.
  CheckedMemory::tally<std::uint64_t> notified[most_waits];

  static ConditionFixture& at(void* memory) { return *static_cast<ConditionFixture*>(memory); }

  static void construct(void* memory) {
    new (memory) ConditionFixture;
    supply_domain();
  }
  static void name_words(const void* memory, Names& names) {
    const auto& self = *static_cast<const ConditionFixture*>(memory);
    name_fields(names, self.lock.lock, "");
    name_fields(names, self.condition, "condition");
    name_fields(names, CheckedMemory::domain(), "");
  }
  static bool in_use(const void* memory) {
    const auto& self = *static_cast<const ConditionFixture*>(memory);
    return domain_in_use() || self.lock.locked() || self.condition.waited_for();
  }

  // --- steps of the scenarios; not inlined, so that they leave nothing on the stack ---

  template <Until U>
  [[gnu::noinline]] bool wait(typename L::Episode& episode, const U& until) {
    const std::uint64_t number = waits, ended_before = ended;
    if (number == most_waits)
      World::current().stop(Property::promise, "the scenario waits more often than the checker has space for");
    waits = number + 1;
    World::current().acquiring(condition_number);
    const bool in_time = condition.wait_until(lock, episode, until);
    if (in_time) check_order(number, ended_before);
    return in_time;
  }

  void check_order(std::uint64_t number, std::uint64_t ended_before) {
    if (begun <= ended_before)
      World::current().stop(Property::order, "a waiter took a notification that had ended before the wait began");
    notified[number] = begun;
    std::uint64_t before = 0;
    for (unsigned i = 0; i < waits; ++i) {
      if (notified[i] == 0) continue;
      if (notified[i] <= before)
        World::current().stop(Property::order, "a waiter was notified before another that had waited longer");
      ++before;
    }
  }

  [[gnu::noinline]] void notify(std::uint64_t most) {
    begun = begun + most;
    World::current().releasing(condition_number);
    condition.notify(most);
    World::current().released();
    ended = ended + most;
  }

  [[gnu::noinline]] void put() {
    const auto episode = lock.acquire();
    tokens = tokens + 1;
    lock.release(episode);
    notify(1);
  }
  [[gnu::noinline]] void take() {
    auto episode = lock.acquire();
    while (tokens == 0) wait(episode, Forever{});
    tokens = tokens - 1;
    lock.release(episode);
  }

  // --- the scenarios ---

  static void notify_one(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    const unsigned threads = World::current().threads(), notifiers = threads / 2;
    for (unsigned e = 0; e < episodes; ++e) {
      if (thread >= notifiers) at(memory).take();
      else
        for (unsigned i = thread; i < threads - notifiers; i += notifiers) at(memory).put();
    }
  }

  static void notify_all(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    for (unsigned e = 1; e <= episodes; ++e) at(memory).round(thread, e);
  }
  [[gnu::noinline]] void round(unsigned thread, unsigned number) {
    auto episode = lock.acquire();
    if (thread == 0) tokens = number;
    else
      while (tokens < number) wait(episode, Forever{});
    lock.release(episode);
    if (thread == 0) notify(all);
  }

  static void timed(void* memory, unsigned thread, unsigned episodes) {
    supply_thread(thread);
    for (unsigned e = 0; e < episodes; ++e) {
      if (thread == 0) at(memory).put();
      else if (thread + 1 == World::current().threads()) at(memory).take();
      else at(memory).wait_a_while();
    }
  }
  [[gnu::noinline]] void wait_a_while() {
    auto episode = lock.acquire();
    bool notified = false;
    while (tokens == 0 && (notified = wait(episode, Deadline{1}))) {}
    if (notified) notify(1);
    lock.release(episode);
  }

  static void destroy(void* memory, unsigned thread, unsigned) {
    supply_thread(thread);
    at(memory).destroying(thread);
  }
  [[gnu::noinline]] void destroying(unsigned thread) {
    const unsigned waiters = World::current().threads() - 1;
    auto episode = lock.acquire();
    if (thread == 0) {
      const bool all_wait = waiting == waiters;
      tokens = 1;
      lock.release(episode);
      notify(all);
      if (!all_wait) World::current().destroyed(condition_number);  // later threads see that they need not wait
      return;
    }
    if (tokens == 0) {
      waiting = waiting + 1;
      do wait(episode, Forever{});
      while (tokens == 0);
      gone = gone + 1;
    }
    const bool last = gone == waiters;
    lock.release(episode);
    if (last) World::current().destroyed(condition_number);
  }

  static Program program(Scenario scenario, std::uint32_t, const DomainOptions&) {
    Program p;
    p.construct = &construct;
    p.name_fields = &name_words;
    p.locked = &in_use;
    p.fixture_size = sizeof(ConditionFixture);
    static_assert(sizeof(Condition<P>) <= sizeof(Lock));
    p.lock_size = sizeof(Lock);  // to the world, the condition is the second lock
    p.locks = 2;
    p.waits_for_deadlines = true;
    switch (scenario) {
      case Scenario::notify_all: p.body = &notify_all; break;
      case Scenario::notify_timed: p.body = &timed; break;
      case Scenario::notify_destroy: p.body = &destroy; break;
      default: p.body = &notify_one;
    }
    return p;
  }
};

}  // namespace fairlock::check
