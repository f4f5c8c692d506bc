// SPDX-License-Identifier: Apache-2.0
// Hashes from a ticket or a hapax to a slot of the waiting array.
//
// A good hash is not random here. The tickets of a lock come one after the other, so neighbouring tickets should fall
// on different sectors, and a stream of tickets should visit every slot before it repeats. A Weyl sequence, with an odd
// multiplier, does both. The lock's salt separates two locks that move in step. A collision costs a needless look,
// never correctness.
//
// The number of slots is a power of two.
#pragma once

#include <cstdint>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

enum class TicketHash {
  weyl127,  // ticket * 127 XOR lock: the TWA paper
  weyl17,   // lock + ticket * 17: the semaphore paper
  pairs,    // two neighbouring tickets share a slot: the second waiter is woken early, and warms up
  orbits,   // the ticket's high bits choose a page of the array, and the low bits a slot in it: fewer TLB misses
  gray,     // neighbouring tickets differ in one bit of their Gray code
  mixed,    // weyl17 and a second hash: no stride for a prefetcher to follow, and no locks in step
};

enum class HapaxHash {
  block,  // (lock + block) * 17: one thread keeps one slot for a whole block; the Hapax paper
  runs,   // 32 episodes on one slot, the next 32 on another: a collision does not last
  mixed,  // each hapax has an arbitrary slot: no locality, and no lasting collision
};

// A finaliser that removes all structure from the key.
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

// The key of an object and a number, which selects a waiting chain. Objects are scattered over the chains. The numbers
// of one object select neighbouring chains: no thread watches a chain, and a release that looks at several of them
// finds the next one in its cache.
constexpr Key key_of(std::uint32_t salt, std::uint64_t number) {
  return (std::uint64_t{salt} * 0x9e3779b97f4a7c15ULL >> 40) + number;
}

}  // namespace v0
}  // namespace fairlock
