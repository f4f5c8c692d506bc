// SPDX-License-Identifier: Apache-2.0
// Sleeping<Base>: a platform whose waiters look as often as the policy says, and then sleep on a waiting chain. The
// native platform and the checker share it, so that the checker explores the same source that sleeps in a program.
#pragma once

#include <type_traits>

#include <fairlock/waiting/chain.hpp>

namespace fairlock {
inline namespace v0 {

template <class Base>
struct Sleeping : Base {
  static constexpr bool sleeps = true;

  template <class A, class C>
  static auto await(const A& where, const C& condition, std::memory_order o, Key key) {
    return *await_until(where, condition, Forever{}, o, key);
  }
  template <class A, class C>
  static auto await(const A& where, const C& condition, std::memory_order o = order::acquire) {
    return await(where, condition, o, Base::key(&where));
  }

  template <class A, class C, Until U>
  static auto await_until(const A& where, const C& condition, const U& until, std::memory_order o, Key key)
      -> std::optional<decltype(where.load(o))> {
    for (bool in_time = true;;) {
      const auto value = where.load(o);
      if (condition(value)) return value;
      if (!in_time) return std::nullopt;
      // The value that satisfied the condition may be gone already, so we look again (above).
      in_time = Chains<Sleeping>::wait_until(&where, key, [&] { return condition(where.load(o)); }, until);
    }
  }

  template <class A, class C, Until U>
  static auto await_until(const A& where, const C& condition, const U& until, std::memory_order o) {
    return await_until(where, condition, until, o, Base::key(&where));
  }

  template <class A, class C, class Pace, Until U>
  static auto await_paced(const A& where, const C& condition, const Pace&, const U& until, std::memory_order o,
                          Key key) {
    return await_until(where, condition, until, o, key);
  }

  template <class A, class T, class C>
  static auto await_exchange(A& where, T desired, const C& condition, std::memory_order o = order::acquire) {
    auto value = where.exchange(desired, o);
    for (; !condition(value); value = where.exchange(desired, o)) await(where, condition, order::relaxed);
    return value;
  }

  template <class A, Until U>
  static bool watch(A& gate, const U& until) {
    if (!gate.cas(gate_shut, gate_asleep, order::acquire) && gate.load(order::acquire) == gate_woken) return true;
    bool in_time = true;
    while (in_time && gate.load(order::acquire) != gate_woken) in_time = Base::park(gate, gate_asleep, until);
    return in_time || gate.load(order::acquire) == gate_woken;
  }

  // The write is an exchange, because on many machines one instruction is then both the write and the fence.
  template <class A, class T, std::same_as<Key>... K>
  static void publish(A& where, T value, K... keys) {
    where.exchange(value, order::acq_rel);
    signal(keys...);
  }
  template <class A, class T>
  static void publish(A& where, T value) {
    publish(where, value, Base::key(&where));
  }

  template <std::same_as<Key>... K>
  static void signal(K... keys) {
    Base::fence_after_rmw();
    (Chains<Sleeping>::signal(keys), ...);
  }
};

// The platform Base under the waiting policy W: its waiters sleep if W sleeps.
template <class W, class Base>
using SleepingIf = std::conditional_t<W::sleeps, Sleeping<Base>, Base>;

}  // namespace v0
}  // namespace fairlock
