// SPDX-License-Identifier: Apache-2.0
// From a ticket or a hapax to a slot of the waiting array.
//
// A good hash here is not a random one. Tickets of one lock come one by one, so neighbours should fall on different
// sectors and a stream should visit every slot before it repeats (an odd multiplier: a Weyl sequence); the lock's salt
// keeps two locks that move in step apart. Collisions cost a useless look, never correctness.
//
// Slots are counted in powers of two.
#pragma once

#include <cstdint>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

enum class TicketHash {
  weyl127,  // ticket * 127 XOR lock: the TWA paper
  weyl17,   // lock + ticket * 17: the semaphore paper
  pairs,    // two neighbouring tickets share a slot: the second is woken early, and warms up
  orbits,   // the ticket's high bits choose a page of the array, the low ones orbit within it: fewer TLB misses
  gray,     // neighbouring tickets differ in one bit of their Gray code
  mixed,    // weyl17 and a secondary hash: no stride for a prefetcher to follow, no locks in step
};

enum class HapaxHash {
  block,  // (lock + block) * 17: one thread keeps one slot for a whole block; the Hapax paper
  runs,   // 32 episodes on one slot, then the next: a collision does not last
  mixed,  // every hapax anywhere: no locality, no lasting collision
};

// A full-strength finaliser, for where the structure of the key is better forgotten.
constexpr std::uint32_t mix(std::uint64_t key) {
  key = (key ^ (key >> 33)) * 0xff51afd7ed558ccdULL;
  key = (key ^ (key >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return static_cast<std::uint32_t>(key ^ (key >> 33));
}

constexpr std::uint32_t slot_of_ticket(TicketHash hash, std::uint32_t salt, std::uint64_t ticket, std::uint32_t slots) {
  constexpr std::uint32_t page = 512;  // slots of eight bytes in a page of 4096
  const auto t = static_cast<std::uint32_t>(ticket);
  const auto mask = slots - 1;
  switch (hash) {
    case TicketHash::weyl127: return ((t * 127) ^ salt) & mask;
    case TicketHash::weyl17: return (salt + t * 17) & mask;
    case TicketHash::pairs: return (salt + (t >> 1) * 17) & mask;
    case TicketHash::gray: return (salt + (t ^ (t >> 1)) * 17) & mask;
    case TicketHash::mixed: return mix(salt + std::uint64_t{t} * 17) & mask;
    case TicketHash::orbits: {
      const auto orbit = slots < page ? slots : page;
      return ((t & ~(orbit - 1)) | ((salt + t * 17) & (orbit - 1))) & mask;
    }
  }
  return 0;
}

constexpr std::uint32_t slot_of_hapax(HapaxHash hash, std::uint32_t salt, std::uint64_t hapax, unsigned block_bits,
                                      std::uint32_t slots) {
  const auto mask = slots - 1;
  switch (hash) {
    case HapaxHash::block: return ((salt + static_cast<std::uint32_t>(hapax >> block_bits)) * 17) & mask;
    case HapaxHash::runs: return mix(salt + (hapax >> 5)) & mask;
    case HapaxHash::mixed: return mix(salt + hapax) & mask;
  }
  return 0;
}

// What stands for an object and a number when a waiter is looked for on the chains. Objects are scattered; the numbers
// of one object walk through all the chains, side by side: nobody watches a chain, and a release that looks at the next
// one in vain finds it in its cache.
constexpr Key key_of(std::uint32_t salt, std::uint64_t number) {
  return (std::uint64_t{salt} * 0x9e3779b97f4a7c15ULL >> 40) + number;
}

}  // namespace v0
}  // namespace fairlock
