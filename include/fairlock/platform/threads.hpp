// SPDX-License-Identifier: Apache-2.0
// PlatformThreads: what the calling thread owns, and what identifies it.
#pragma once

#include <concepts>
#include <cstdint>

namespace fairlock {
inline namespace v0 {

// `create`, `free_at_exit` and `self` may allocate memory, and `create` may throw std::bad_alloc. An algorithm calls
// them only in acquire, before it touches the words of the lock, and never in release.
template <class P>
concept PlatformThreads = requires(std::uint64_t& own, std::uint64_t* object, void (*free)(void*)) {
  // The calling thread's T. It starts as all zeros and is trivially destructible.
  { P::template local<std::uint64_t>() } -> std::same_as<std::uint64_t&>;
  // Add one to a word of the calling thread. False if a signal handler has changed the word from `from` meanwhile.
  { P::advance(own, std::uint64_t{0}) } -> std::same_as<bool>;
  // scoped<T>: a T of the current scope that other threads may see, behind * and ->.
  typename P::template scoped<std::uint64_t>;
  // A new object that outlives the call and may circulate between threads.
  { P::template create<std::uint64_t>() } -> std::same_as<std::uint64_t*>;
  // Free such an object. Any thread may call it.
  P::destroy(object);
  // Call free(object) when the calling thread exits, or now if that is too late. At most once for each type of object.
  P::free_at_exit(free, object);
  // A small number that no other living thread has, or at least `max_threads` if no number is left.
  { P::self() } -> std::convertible_to<unsigned>;
  // The first number that self() never returns for a thread that has one.
  { P::max_threads } -> std::convertible_to<unsigned>;
  // A number that no other thread has, had or will have. Never 0.
  { P::serial() } -> std::same_as<std::uint64_t>;
  // The CPU, and the NUMA node, on which the thread runs at the moment. 0 if the platform does not know.
  { P::cpu() } -> std::convertible_to<unsigned>;
  { P::node() } -> std::convertible_to<unsigned>;
} && requires(typename P::template scoped<std::uint64_t> scoped) {
  { *scoped } -> std::same_as<std::uint64_t&>;
  { scoped.operator->() } -> std::same_as<std::uint64_t*>;
};

}  // namespace v0
}  // namespace fairlock
