// SPDX-License-Identifier: Apache-2.0
// The checked platform: every wait is one operation that is enabled only while its condition holds.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/platform/sleeping.hpp>
#include <fairlock/waiting/chain.hpp>

#include "check/checked_memory.hpp"

namespace fairlock::check {

struct Checked : CheckedMemory {
  template <class A, class C>
  static auto await(const A& where, const C& condition, std::memory_order o = order::acquire, Key = 0) {
    return wait(where, condition, Kind::await, 0, o);
  }

  // The world decides whether the thread gives up.
  template <class A, class C, Until U>
  static auto await_until(const A& where, const C& condition, const U& until, std::memory_order o = order::acquire,
                          Key = 0) -> std::optional<decltype(where.load(o))> {
    const auto value = wait(where, condition,
                            stays_in_line<U>            ? Kind::await_briefly
                            : until.deadline() == never ? Kind::await
                                                        : Kind::await_until,
                            0, o);
    if (World::current().gave_up()) return std::nullopt;
    return value;
  }
  // A brief wait that fails does not tell whether the deadline has passed, so the checker explores both cases.
  template <Until U>
  static bool over(const U& until) {
    if (until.deadline() == never || !World::current().gave_up()) return until.interrupted();
    return stays_in_line<U> || !World::current().last_wait_was_brief() ||
           World::current().perform({.kind = Kind::chance}) != 0;
  }

  static std::uint64_t now() { return 0; }

  // There is no clock: the patience of a thread may end at any time, or never. The thread then stays in line, so the
  // world must not treat the end of patience as a deadline.
  struct Patience {
    static constexpr bool stays_in_line = true;
    static constexpr std::uint64_t deadline() { return 1; }
    static constexpr bool interrupted() { return false; }
  };
  template <Until U>
  static Patience within(const U&, std::uint64_t) {
    return {};
  }

  template <class A, class C, class Pace, Until U>
  static auto await_paced(const A& where, const C& condition, const Pace&, const U& until, std::memory_order o,
                          Key = 0) {
    return await_until(where, condition, until, o);
  }

  template <class A, class T, class... K>
  static void publish(A& where, T value, K...) {
    where.store(value, order::release);
  }
  template <class... K>
  static void signal(K...) {}

  template <class A, Until U>
  static bool watch(const A& gate, const U& until) {
    return await_until(gate, [](auto now) { return now == gate_woken; }, until).has_value();
  }

  template <class A, Until U>
  static bool park(const A& word, std::uint64_t value, const U& until) {
    auto&& observer = observer_of(until);
    observer.before_park(&word, &unpark);
    bool in_time = !until.interrupted();
    if (in_time) {
      const auto limit = stays_in_line<U>            ? runtime::park_with_patience
                         : until.deadline() == never ? runtime::park_forever
                                                     : runtime::park_until_deadline;
      word.perform({.kind = Kind::park, .operand = limit, .expected = value});
      in_time = !World::current().gave_up();
    }
    observer.after_park();
    return in_time && !until.interrupted();
  }
  static void unpark(const void* word) {
    World::current().perform({.kind = Kind::unpark, .address = reinterpret_cast<std::uintptr_t>(word)});
  }

  template <class A, class C>
  static auto await_briefly(const A& where, const C& condition, unsigned, std::memory_order o = order::acquire)
      -> std::optional<decltype(where.load(o))> {
    const auto value = wait(where, condition, Kind::await_briefly, 0, o);
    if (World::current().gave_up()) return std::nullopt;
    return value;
  }
  template <class A, class C>
  static auto await_if_worthwhile(const void*, const A& where, const C& condition, unsigned looks,
                                  std::memory_order o) {
    return await_briefly(where, condition, looks, o);
  }

  template <class A, class T, class C>
  static auto await_exchange(A& where, T desired, const C& condition, std::memory_order o = order::acquire) {
    return wait(where, condition, Kind::await_exchange, runtime::to_word(desired), o);
  }

  template <class C, Until U>
  static bool satisfied_soon(const void*, const C&, const U&) {
    return false;
  }

  static void pause(unsigned) {}

 private:
  template <class U>
  static constexpr bool stays_in_line = requires { U::stays_in_line; };

  template <class A, class C>
  static auto wait(const A& where, const C& condition, Kind kind, std::uint64_t operand, std::memory_order o) {
    using T = decltype(where.load(o));
    return runtime::from_word<T>(where.perform({
        .kind = kind,
        .order = o,
        .operand = operand,
        .test = [](const void* c, std::uint64_t word) -> bool {
          return (*static_cast<const C*>(c))(runtime::from_word<T>(word));
        },
        .context = &condition,
    }));
  }
};

// The same platform with waiters that sleep.
using CheckedSleeping = Sleeping<Checked>;

// Waiters that check their condition twice before they sleep. A native waiter yields between the two checks
// (waiting/yield_before_park.hpp). Here, any other thread may run between them.
struct CheckedStepAside : Checked {
  static constexpr unsigned short_spin = 1;

  template <class C, Until U>
  static bool satisfied_soon(const void*, const C& satisfied, const U& until) {
    return satisfied() || (observer_of(until).may_yield() && !until.interrupted() && satisfied());
  }
};
using CheckedStepAsideThenSleep = Sleeping<CheckedStepAside>;

static_assert(Platform<Checked> && Platform<CheckedSleeping>);
static_assert(Platform<CheckedStepAside> && Platform<CheckedStepAsideThenSleep>);

}  // namespace fairlock::check
