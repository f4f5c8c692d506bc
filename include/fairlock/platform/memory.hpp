// SPDX-License-Identifier: Apache-2.0
// PlatformMemory: the memory through which the threads of an algorithm communicate.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace fairlock {
inline namespace v0 {

// Short names of the memory orders, distinct from the methods that are called acquire and release.
namespace order {
inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;  // for fences only
}  // namespace order

// A word that threads share: std::atomic with explicit orders. No access is sequentially consistent, because RC11 gives
// such accesses no meaning that is cheap on every machine. An RMW or a fence always expresses what is needed.
template <class A, class T>
concept AtomicOf = requires(A a, const A c, T v, std::memory_order o) {
  { c.load(o) } -> std::same_as<T>;
  a.store(v, o);
  { a.exchange(v, o) } -> std::same_as<T>;
  // Strong: it fails only if the value differs. `v` then becomes the value that the word had.
  { a.compare_exchange(v, v, o) } -> std::same_as<bool>;
  // The same for a caller that does not need the value that the word had.
  { a.cas(v, v, o) } -> std::same_as<bool>;
  // Set the value while no other thread can reach the word.
  a.init(v);
};

template <class A, class T>
concept AtomicIntegerOf = AtomicOf<A, T> && requires(A a, T v, std::memory_order o) {
  { a.fetch_add(v, o) } -> std::same_as<T>;
  { a.fetch_or(v, o) } -> std::same_as<T>;
  { a.fetch_and(v, o) } -> std::same_as<T>;
};

template <class P>
concept PlatformMemory =
    requires {
      // atomic<T>: a word that threads share. T is an integer or a pointer of 32 or 64 bits.
      typename P::template atomic<std::uint64_t>;
      // plain<T>: a word that belongs to one thread at a time and passes from thread to thread.
      typename P::template plain<void*>;
      // Threads that write to words on different sectors do not disturb each other.
      { P::sector } -> std::convertible_to<std::size_t>;
      // Where large arrays begin.
      { P::page } -> std::convertible_to<std::size_t>;
      // Order the accesses before the fence with those after it.
      P::fence(order::seq_cst);
      // The same right after an RMW, which on some machines is such a fence already.
      P::fence_after_rmw();
    } && AtomicIntegerOf<typename P::template atomic<std::uint64_t>, std::uint64_t> &&
    AtomicIntegerOf<typename P::template atomic<std::uint32_t>, std::uint32_t> &&
    AtomicOf<typename P::template atomic<void*>, void*> &&
    requires(typename P::template plain<void*> word, void* value) {
      word = value;
      static_cast<void*>(word);
    };

}  // namespace v0
}  // namespace fairlock
