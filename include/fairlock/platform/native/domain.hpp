// SPDX-License-Identifier: Apache-2.0
// NativeDomain: the domain of the process, and names for the objects in it.
//
// The domain is an inline variable of default visibility. It is one object however many shared libraries include this
// header, even those built with -fvisibility=hidden (GCC marks it unique, so even libraries that are loaded with
// RTLD_LOCAL share it). If it were hidden, each library would have its own waiting arrays, and a waiter in one library
// would sleep through the wake-up that another library stores.
//
// Locks with different waiting policies share a domain if they have the same DomainOptions.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fairlock/detail/hash.hpp>
#include <fairlock/platform/native/memory.hpp>

namespace fairlock {
inline namespace v0 {

// How many slots of an array of at most `Most` are in use, if that depends on the number of CPUs. 0: not known yet. One
// variable for the process, like the domain: a waiter and the release that wakes it must agree on the slot.
template <std::uint32_t Most>
[[gnu::visibility("default")]] inline constinit std::atomic<std::uint32_t> slots_in_use{0};

// The template arguments are plain numbers, because GCC 12 hides a variable whose template argument has class type
// under -fvisibility=hidden, whatever the attribute says.
template <std::uint32_t Slots, bool ByCpus, unsigned Lanes, unsigned Pick, unsigned BlockBits, unsigned Leavers,
          unsigned Threads>
[[gnu::visibility("default")]] inline constinit Domain<
    NativeMemory<DomainOptions{Slots, ByCpus, Lanes, static_cast<Lane>(Pick), BlockBits, Leavers, Threads}>>
    shared_domain{};

template <DomainOptions O>
inline constexpr auto& process_domain =
    shared_domain<O.slots, O.slots_by_cpus, O.lanes, static_cast<unsigned>(O.lane), O.block_bits, O.leavers, O.threads>;

template <DomainOptions O>
struct NativeDomain : NativeMemory<O> {
  static constexpr const DomainOptions& options() { return options_; }
  static Domain<NativeMemory<O>>& domain() { return process_domain<O>; }

  static std::uint32_t slots() {
    if constexpr (!O.slots_by_cpus) {
      return O.slots;
    } else {
      auto known = slots_in_use<O.slots>.load(std::memory_order_relaxed);
      if (known == 0) [[unlikely]] {  // the first thread decides for all
        std::uint32_t none = 0;
        const auto now = slots_for(std::thread::hardware_concurrency(), O.slots);
        known = slots_in_use<O.slots>.compare_exchange_strong(none, now) ? now : none;
      }
      return known;
    }
  }

  static std::uint32_t salt(const void* object) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object));
  }
  static std::uint64_t identity(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object) | std::uint64_t{1} << 63;
  }
  static Key key(const void* object, std::uint64_t number = 0) { return key_of(salt(object), number); }

  [[noreturn, gnu::cold]] static void stop(const char* algorithm, const char* message) {
    std::fprintf(stderr, "fairlock: %s: %s\n", algorithm, message);
    std::abort();
  }

 private:
  static constexpr DomainOptions options_ = O;
};

}  // namespace v0
}  // namespace fairlock
