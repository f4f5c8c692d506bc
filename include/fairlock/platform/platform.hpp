// SPDX-License-Identifier: Apache-2.0
// Platform: all that an algorithm may touch.
//
// Every lock is a template over a Platform, so the source that a program runs natively is the source that the checker
// explores. An algorithm reaches memory through `atomic`, waits through `await`, and asks for everything else here; it
// never spells a spin loop, a thread-local variable or a global.
//
//   atomic<T>, fence                       memory that threads share
//   fence_after_rmw()                      a seq_cst fence right behind an RMW, which on some machines is one already
//   plain<T>                               memory that one thread at a time owns, and that travels between them
//   await(where, condition, order)         wait until the value at `where` satisfies `condition`; returns that value
//   await_briefly(where, condition, n)     the same, but may give up after a while: an optional value
//   await_if_worthwhile(lock, where, c, n) await_briefly, unless that has failed for `lock` lately
//   await_paced(where, condition, pace, u) the same as await_until, with pace(value) pauses between two looks
//   await_exchange(where, v, condition)    exchange v in until the value that came out satisfies `condition`
//   await_until(where, condition, until)   the same as await, but gives up when `until` comes: an optional value (until.hpp)
//   over(until) / soon(until)              whether it has come / itself, or a little while from now
//   patience(until, n)                     itself, or n nanoseconds from now: who gives up then stays in line
//   publish(where, value, keys...)         write, with release, what ends a wait
//   signal(keys...)                        the same after an RMW that ended a wait
//   key(object, n)                         what a waiter that may sleep waits for: a word, or a lock and a number
//   sleeps                                 whether waiters may sleep, so that publish and signal have somebody to wake
//   looks, satisfied_soon(lock, cond, u)   if not 0: whether a condition holds before a sleep would pay (native only)
//   watch(gate, until)                     wait for the gate of a waiting chain (waiting/chain.hpp)
//   park(word, value, until) / unpark      sleep on a 32-bit word while it has that value (platform/parking.hpp)
//   now()                                  nanoseconds of a steady clock
//   pause(n)                               the bounded delay of backoff locks
//   local<T>()                             the calling thread's own T, all zero at first; trivially destructible
//   advance(word, from)                    add one to a word of the thread's own, unless a signal handler has just done so: then false
//   scoped<T>                              a T of the current scope that other threads may see, behind * and ->
//   create<T>() / destroy(T*)              an object that outlives the call and may circulate between threads
//   keep(free, spare)                      call free(spare) at this thread's exit, or now if that is too late; at most
//                                          once for each kind of object
//   self()                                 a small number of the calling thread, below max_threads (or equal: none left)
//   serial()                               a number of the calling thread that no other thread has, nor will have; not 0
//   random(), cpu(), node()                deterministic where time is simulated
//   chance(c)                              true with probability c; the checker explores both
//   guess(estimate)                        estimate(), a guess by timing that may be wrong; the checker explores both
//   salt(object)                           what stands for the object's address in a hash: the same in every mapping
//   identity(object)                       what stands for the object in a table: no other has it, and no hapax is equal to it
//   domain()                               the place of what locks share
//   stop(who, what)                        a broken promise of the caller: say so, and end
//
// create, keep and self may allocate, and create may throw std::bad_alloc. An algorithm calls them only
// in acquire, before it touches the words of the lock, and never in release.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace fairlock {
inline namespace v0 {

// Memory orders, readable beside methods that are themselves called acquire and release.
namespace order {
inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;  // for fences only: see atomic below
}  // namespace order

// What a platform's atomic offers: std::atomic with explicit orders, `compare_exchange` (strong), `cas` for when the
// value found does not matter, and `init` for a word that nobody else can see yet. Sequentially consistent *accesses*
// are not used: RC11 gives them no meaning that is cheap everywhere, and an RMW or a fence always says what is needed.
template <class A, class T>
concept AtomicOf = requires(A a, const A c, T v, std::memory_order o) {
  { c.load(o) } -> std::same_as<T>;
  a.store(v, o);
  a.init(v);
  { a.exchange(v, o) } -> std::same_as<T>;
  { a.compare_exchange(v, v, o) } -> std::same_as<bool>;
  { a.cas(v, v, o) } -> std::same_as<bool>;
};

// A probability, `times` in `of`, that can be a template argument.
struct Chance {
  std::uint32_t times = 0, of = 1;
  constexpr bool valid() const { return of != 0 && times <= of; }
  constexpr bool certain() const { return times == 0 || times == of; }
  constexpr std::uint64_t of_32_bits() const { return (std::uint64_t{times} << 32) / of; }
};

struct DomainOptions;  // domain.hpp

// Stands for what a sleeping waiter waits for. Waiters for other things may have the same: that costs a needless wake-
// up.
using Key = std::uint64_t;

template <class P>
concept Platform =
    AtomicOf<typename P::template atomic<std::uint64_t>, std::uint64_t> &&
    AtomicOf<typename P::template atomic<void*>, void*> &&
    requires(typename P::template atomic<std::uint64_t> a, bool (*is)(std::uint64_t), const void* object, Key key) {
      { P::await(a, is, order::acquire) } -> std::same_as<std::uint64_t>;
      { P::await(a, is, order::acquire, key) } -> std::same_as<std::uint64_t>;
      P::publish(a, std::uint64_t{1});
      P::publish(a, std::uint64_t{1}, key);
      P::signal(key);
      { P::key(object) } -> std::same_as<Key>;
      { P::key(object, std::uint64_t{1}) } -> std::same_as<Key>;
      { P::sleeps } -> std::convertible_to<bool>;
      { P::await_briefly(a, is, 1u, order::acquire) } -> std::same_as<std::optional<std::uint64_t>>;
      { P::await_exchange(a, 1u, is, order::acquire) } -> std::same_as<std::uint64_t>;
      P::fence(order::seq_cst);
      P::fence_after_rmw();
      P::pause(1u);
      { P::template local<std::uint64_t>() } -> std::same_as<std::uint64_t&>;
      { P::advance(P::template local<std::uint64_t>(), 1u) } -> std::same_as<bool>;
      { P::self() } -> std::convertible_to<unsigned>;
      { P::serial() } -> std::same_as<std::uint64_t>;
      { P::random() } -> std::convertible_to<std::uint64_t>;
      { P::chance(Chance{}) } -> std::same_as<bool>;
      {
        P::guess([] { return true; })
      } -> std::same_as<bool>;
      { P::cpu() } -> std::convertible_to<unsigned>;
      { P::node() } -> std::convertible_to<unsigned>;
      { P::salt(object) } -> std::same_as<std::uint32_t>;
      { P::identity(object) } -> std::same_as<std::uint64_t>;
      { P::slots() } -> std::convertible_to<std::uint32_t>;
      { P::options() } -> std::convertible_to<const DomainOptions&>;
      P::domain();
      { P::sector } -> std::convertible_to<std::size_t>;
    };

}  // namespace v0
}  // namespace fairlock
