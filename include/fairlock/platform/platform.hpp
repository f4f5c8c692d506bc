// SPDX-License-Identifier: Apache-2.0
// Platform: all that an algorithm may use.
//
// Every lock is a template over a Platform, so the source that a program runs natively is the source that the checker
// explores. The concepts declare every name that an algorithm may use, each below a comment that says what it means.
// The algorithm contains no spin loop, no thread-local variable and no global variable.
//
//   PlatformMemory    atomic, plain, fences                     platform/memory.hpp
//   PlatformThreads   what the calling thread owns              platform/threads.hpp
//   PlatformClock     time, and the end of a wait               platform/waiting.hpp
//   PlatformWaiting   how to wait, and how to end a wait        platform/waiting.hpp
//   PlatformParking   how to sleep, and how to wake a thread    platform/waiting.hpp
//   PlatformChance    random numbers                            platform/chance.hpp
//   PlatformDomain    what locks share, and names for objects   below
//
// tests/native/platform.cpp tests that a platform does what the comments say.
#pragma once

#include <fairlock/platform/chance.hpp>
#include <fairlock/platform/memory.hpp>
#include <fairlock/platform/threads.hpp>
#include <fairlock/platform/waiting.hpp>

namespace fairlock {
inline namespace v0 {

struct DomainOptions;  // platform/domain.hpp
template <class Memory>
struct Domain;

namespace detail {
template <class T>
inline constexpr bool is_domain = false;
template <class Memory>
inline constexpr bool is_domain<Domain<Memory>&> = true;
}  // namespace detail

template <class T>
concept DomainReference = detail::is_domain<T>;

template <class P>
concept PlatformDomain = requires(const void* object, const char* algorithm, const char* message) {
  // What locks share (platform/domain.hpp).
  { P::domain() } -> DomainReference;
  { P::options() } -> std::convertible_to<const DomainOptions&>;
  // The sizes of its arrays. `slots` is how many slots of each waiting array are in use: a power of two.
  { P::max_slots } -> std::convertible_to<std::uint32_t>;
  { P::slots() } -> std::convertible_to<std::uint32_t>;
  { P::max_lanes } -> std::convertible_to<unsigned>;
  { P::max_leavers } -> std::convertible_to<unsigned>;

  // A hash of the object's place in the domain, the same in every mapping.
  { P::salt(object) } -> std::same_as<std::uint32_t>;
  // A name of the object in a table. No other object has it, and no hapax equals it.
  { P::identity(object) } -> std::same_as<std::uint64_t>;
  // What a waiter that may sleep waits for: a word, or a lock and a number.
  { P::key(object) } -> std::same_as<Key>;
  { P::key(object, std::uint64_t{1}) } -> std::same_as<Key>;

  // The caller broke a promise: say so and end the program.
  P::stop(algorithm, message);
};

template <class P>
concept Platform = PlatformMemory<P> && PlatformThreads<P> && PlatformClock<P> && PlatformWaiting<P> &&
                   PlatformParking<P> && PlatformChance<P> && PlatformDomain<P>;

}  // namespace v0
}  // namespace fairlock
