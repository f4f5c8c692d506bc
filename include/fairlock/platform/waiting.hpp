// SPDX-License-Identifier: Apache-2.0
// PlatformWaiting: how a thread waits, and how another thread ends the wait. An algorithm contains no spin loop.
//
// Every wait watches one word. The thread that ends the wait writes the word and then wakes the waiters that may sleep:
// `publish` does both, and `signal` follows an RMW of the algorithm. Both name what the waiters wait for by a key.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <fairlock/platform/memory.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

// What a sleeping waiter waits for. Waiters for different things may have the same key: a waiter may then be woken for
// nothing, and sleeps on.
using Key = std::uint64_t;

template <class P>
concept PlatformClock = requires(Deadline until) {
  // Nanoseconds of a steady clock.
  { P::now() } -> std::same_as<std::uint64_t>;
  // Whether `until` has come.
  { P::over(until) } -> std::same_as<bool>;
  // `until`, or this many nanoseconds from now if that is sooner. A waiter that reaches only the sooner limit stays in
  // line. The result refers to `until`, which must outlive it.
  { P::within(until, std::uint64_t{1}) } -> Until;
  // The bounded delay of a backoff lock, in units of a spin.
  P::pause(1u);
};

template <class P>
concept PlatformWaiting = requires(typename P::template atomic<std::uint64_t> where, bool (*condition)(std::uint64_t),
                                   unsigned (*pauses)(std::uint64_t), const void* lock, Deadline until, Key key) {
  // Wait until the value at `where` satisfies `condition`. Returns this value.
  { P::await(where, condition, order::acquire) } -> std::same_as<std::uint64_t>;
  { P::await(where, condition, order::acquire, key) } -> std::same_as<std::uint64_t>;
  // The same, but give up when `until` comes.
  { P::await_until(where, condition, until, order::acquire) } -> std::same_as<std::optional<std::uint64_t>>;
  { P::await_until(where, condition, until, order::acquire, key) } -> std::same_as<std::optional<std::uint64_t>>;
  // The same, with pauses(value) pauses between two looks.
  {
    P::await_paced(where, condition, pauses, until, order::acquire, key)
  } -> std::same_as<std::optional<std::uint64_t>>;
  // Exchange 1 into the word until the value that comes out satisfies `condition`. Returns this value.
  { P::await_exchange(where, 1u, condition, order::acquire) } -> std::same_as<std::uint64_t>;

  // Wait, but never sleep, and give up after about this many looks.
  { P::await_briefly(where, condition, 1u, order::acquire) } -> std::same_as<std::optional<std::uint64_t>>;
  // The same, but return nothing at once if such waits have recently failed for `lock`.
  { P::await_if_worthwhile(lock, where, condition, 1u, order::acquire) } -> std::same_as<std::optional<std::uint64_t>>;
  // How many looks a waiter takes before it sleeps. 0: it sleeps at once, or never.
  { P::short_spin } -> std::convertible_to<unsigned>;
  // How many more looks a waiter takes before it sleeps on a condition, if they are worthwhile.
  { P::long_spin } -> std::convertible_to<unsigned>;

  // Write, with release, what ends a wait. The lock may be gone after the write, so the caller computes the keys first.
  P::publish(where, std::uint64_t{1});
  P::publish(where, std::uint64_t{1}, key);
  // The same after an RMW that ended a wait.
  P::signal(key);
} && requires(bool (*satisfied)(), const void* lock, Deadline until) {
  // Whether the condition comes true before a sleep would pay. Always false on a platform that does not spin first.
  { P::satisfied_soon(lock, satisfied, until) } -> std::same_as<bool>;
};

template <class P>
concept PlatformParking =
    requires(typename P::template atomic<std::uint32_t> gate, const typename P::template atomic<std::uint64_t> word,
             const void* address, Deadline until) {
      // Whether waiters may sleep, so that a thread that ends a wait must wake them.
      { P::sleeps } -> std::convertible_to<bool>;
      // Wait until the gate of a waiting chain says woken (waiting/chain.hpp). False: `until` came first.
      { P::watch(gate, until) } -> std::same_as<bool>;
      // Sleep while the lower half of the word has this value. May wake for no reason. False: `until` has come.
      { P::park(word, std::uint64_t{1}, until) } -> std::same_as<bool>;
      // Wake the threads that sleep on this address. The word itself may be gone.
      P::unpark(address);
    };

}  // namespace v0
}  // namespace fairlock
