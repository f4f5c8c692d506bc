// SPDX-License-Identifier: Apache-2.0
// Hapaxes: 64-bit values that are used once in the life of a domain.
//
// A thread takes hapaxes from its own block, which holds 64K of them unless the domain says otherwise, and goes to the
// domain's source once for each block. Zero is never a hapax. The source has one or more lanes. Lane l gives out the
// blocks whose number is l + 1 modulo the number of lanes, so no two lanes give out the same block. (Listing 2 and
// Listing 4 of the Hapax paper. The assertion in Listing 4 fails on the first block of lane 0, hence the + 1.)
#pragma once

#include <cstdint>
#include <utility>

#include <fairlock/detail/hash.hpp>
#include <fairlock/platform/domain.hpp>

namespace fairlock {
inline namespace v0 {

// What a thread does after it has shared its slot with another waiter.
enum class AfterCollision {
  nothing,
  new_block,     // drop the rest of the block: the next block has another slot, but hapaxes run out faster
  second_block,  // switch to a second block, and back the next time
};

// A thread's supply. All zero: the thread has no block.
struct HapaxSupply {
  std::uint64_t next;        // the next hapax of the block in use; a multiple of the block size: used up
  std::uint64_t other;       // the same for the second block, with AfterCollision::second_block
  std::uint64_t returned;    // a hapax that no other thread saw, to be used again
  std::uint64_t memo_block;  // 1 + the block whose slot is remembered in memo_slot
  std::uint32_t memo_slot;
  std::uint32_t memo_salt;
};

template <Platform P>
class Hapaxes {
 public:
  static std::uint64_t next() {
    auto& supply = P::template local<HapaxSupply>();
    for (;;) {
      const auto hapax = supply.next;
      if ((hapax & (block_size() - 1)) == 0) [[unlikely]]
        return refill(supply);
      if (P::advance(supply.next, hapax)) [[likely]]
        return hapax;
    }
  }

  // The same, but a returned hapax is used first.
  static std::uint64_t next_or_returned() {
    auto& supply = P::template local<HapaxSupply>();
    if (supply.returned != 0) return std::exchange(supply.returned, 0);
    return next();
  }

  static void give_back(std::uint64_t hapax) { P::template local<HapaxSupply>().returned = hapax; }

  static void avoid_collision(AfterCollision what) {
    auto& supply = P::template local<HapaxSupply>();
    if (what == AfterCollision::new_block) supply.next = 0;
    if (what == AfterCollision::second_block) std::swap(supply.next, supply.other);
  }

  static std::uint64_t block_size() { return std::uint64_t{1} << P::options().block_bits; }

 private:
  [[gnu::noinline]] static std::uint64_t refill(HapaxSupply& supply) {
    const auto& options = P::options();
    const unsigned lane = pick(options, supply);
    const auto index_in_lane = P::domain().lanes[lane].blocks.fetch_add(1, order::relaxed);
    const auto block = index_in_lane * options.lanes + lane + 1;
    // 2^47 blocks of 64K last for centuries. If they ran out, a repeated hapax would admit two owners. The upper half
    // of all values belongs to other keys of the table of leavers (line/leavers.hpp).
    if (index_in_lane >= ((~std::uint64_t{0} >> 1) >> options.block_bits) / options.lanes - 1)
      P::stop("hapax", "the domain has no hapaxes left: restart the program, or use smaller blocks");
    const auto hapax = block << options.block_bits;
    supply.next = hapax + 1;
    return hapax;
  }

  static unsigned pick(const DomainOptions& options, const HapaxSupply& supply) {
    const unsigned mask = options.lanes - 1;
    switch (options.lane) {
      case Lane::first: return 0;
      case Lane::random: return static_cast<unsigned>(P::random()) & mask;
      case Lane::cpu: return P::cpu() & mask;
      case Lane::node: return P::node() & mask;
      case Lane::previous: return mix(supply.next >> options.block_bits) & mask;  // a counter-based random number
    }
    return 0;
  }
};

}  // namespace v0
}  // namespace fairlock
