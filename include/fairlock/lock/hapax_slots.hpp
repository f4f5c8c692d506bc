// The slots of the Hapax family: from a hapax to its slot, and waiting there without being seen.
//
//   notice    the last hapax that departed through the slot. An exchange and not a store: when two owners share a slot,
//             a store that is earlier in the modification order may come later in time, and the waiter that saw only the
//             other one would look at an old depart word and sleep on. Each RMW carries on the release of the one
//             before it, so whoever sees any later value also sees both depart words.
#pragma once

#include <cstdint>

#include <fairlock/hapax.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P, HapaxHash H, bool Memoise = false>
struct HapaxSlots {
  static_assert(!Memoise || H == HapaxHash::block, "only HapaxHash::block gives a whole block one slot");

  static std::uint32_t index(std::uint32_t salt, std::uint64_t hapax) {
    return slot_of_hapax(H, salt, hapax, P::options().block_bits, P::slots());
  }

  // The slot of a hapax of one's own, which stays the same for a whole block.
  static std::uint32_t own_index(std::uint32_t salt, std::uint64_t hapax) {
    if constexpr (!Memoise) return index(salt, hapax);
    auto& supply = P::template local<HapaxSupply>();
    const auto block = (hapax >> P::options().block_bits) + 1;
    if (supply.memo_block != block || supply.memo_salt != salt) {
      supply.memo_block = block;
      supply.memo_salt = salt;
      supply.memo_slot = index(salt, hapax);
    }
    return supply.memo_slot;
  }

  static void notify(std::uint32_t salt, std::uint64_t mine) {
    P::domain().notices[own_index(salt, mine)].exchange(mine, order::release);
  }

  // Waits until `before` has departed; tells whether another hapax was seen in the slot: a collision.
  // `fenced`: the owner looks at arrive_ after its store to depart_ and may skip the slot, so our look at depart_ must
  // not come before our exchange on arrive_.
  template <class Word>
  [[gnu::noinline]] static bool await_departure(const Word& depart, std::uint32_t salt, std::uint64_t before, bool fenced) {
    auto& notice = P::domain().notices[index(salt, before)];
    if (fenced) P::fence(order::seq_cst);
    auto seen = notice.load(order::acquire);
    for (bool collided = false;; collided = true) {
      // The slot first, then depart: a departure in between has changed the slot that we remember.
      if (seen == before || depart.load(order::acquire) == before) return collided;
      seen = P::await(notice, [=](auto value) { return value != seen; }, order::acquire);
      if (seen == before) return collided;
    }
  }
};

}  // namespace v0
}  // namespace fairlock
