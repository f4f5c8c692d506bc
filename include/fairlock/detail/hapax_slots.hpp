// SPDX-License-Identifier: Apache-2.0
// The slots of the Hapax family: from a hapax to its slot, and waiting there without being seen.
//
//   notice    the last hapax that departed through the slot. An exchange and not a store: when two owners share a slot,
//             a store that is earlier in the modification order may come later in time, and the waiter that saw only the
//             other one would look at an old depart word and sleep on. Each RMW carries on the release of the one
//             before it, so whoever sees any later value also sees both depart words.
#pragma once

#include <cstdint>

#include <fairlock/detail/hapax_supply.hpp>
#include <fairlock/line/leavers.hpp>
#include <fairlock/waiting/chain.hpp>

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

  // The chain of those who sleep because of a hapax; like the slot, one for a whole block.
  static Key key(std::uint32_t salt, std::uint64_t hapax) { return P::key(&P::domain().notices[index(salt, hapax)]); }

  static void notify(std::uint32_t salt, std::uint64_t mine) {
    if constexpr (!P::sleeps) P::domain().notices[own_index(salt, mine)].exchange(mine, order::release);
  }

  struct Waited {
    std::uint64_t before;  // the hapax that departed, or was still to depart when `until` came
    bool admitted, collided;
  };

  // Waits until `before` has departed, or whoever it waited for if it leaves. `collided`: another hapax was seen in the
  // slot. `fenced`: the owner looks at arrive_ after its store to depart_ and may skip the slot, so our look at depart_
  // must not come before our exchange on arrive_.
  template <class Word, Until U>
  [[gnu::noinline]] static Waited await_departure(const Word& depart, const void* lock, std::uint64_t before,
                                                  bool fenced, const U& until) {
    if (fenced) P::fence(order::seq_cst);
    const auto departed = [&] { return depart.load(order::acquire) == before; };
    for (bool collided = false;;) {
      if constexpr (P::sleeps) {
        const auto decided = [&] { return departed() || has_left(before); };
        if (!Chains<P>::wait_until(lock, key(P::salt(lock), before), decided, until)) return {before, false, false};
        if (departed()) return {before, true, false};
      } else {
        auto& notice = P::domain().notices[index(P::salt(lock), before)];
        // The slot first, then depart and the table: whatever came in between has changed the slot that we remember.
        const auto seen = notice.load(order::acquire);
        if (seen == before || departed()) return {before, true, collided};
        if (!has_left(before)) {
          if (!P::await_until(notice, [=](auto value) { return value != seen; }, until, order::acquire))
            return {before, false, collided};
          collided = true;
          continue;
        }
      }
      if (const auto gone = take(before)) before = *gone;
    }
  }

  // --- those who leave: the successor inherits whom they waited for ---

  // Whether the table has an entry of the hapax; if so, whom it waited for.
  static auto left_by(std::uint64_t hapax) {
    return Left<P>::find(hapax, [](const auto&) { return true; });
  }
  static bool has_left(std::uint64_t hapax) { return left_by(hapax).has_value(); }

  static std::optional<std::uint64_t> take(std::uint64_t hapax) {
    const auto found = left_by(hapax);
    if (!found || !Left<P>::remove(*found)) return std::nullopt;
    Left<P>::give_up_reservation();
    return found->value;
  }

  // `mine`, which has a reservation, does not wait for `before` any longer. poke() tells its successor.
  template <class Word, class F>
  [[gnu::noinline]] static void leave(Word& arrive, std::uint64_t mine, std::uint64_t before, const F& poke) {
    auto last = before;
    if (arrive.cas(mine, before, order::acq_rel)) {  // the last in line: undo the arrival
      Left<P>::give_up_reservation();
    } else {
      Left<P>::put(mine, before, 0);
      poke();
      last = mine;
    }
    // Whoever left last of all has no successor to inherit: a free lock would look taken for ever. Two who leave side
    // by side: one undoes its arrival and looks for the other's entry, the other puts it and looks at arrive.
    P::fence(order::seq_cst);
    while (const auto gone = left_by(last)) {
      if (!arrive.cas(last, gone->value, order::acq_rel)) return;
      Left<P>::remove(*gone);
      Left<P>::give_up_reservation();
      last = gone->value;
    }
  }

  // Tells whoever waits in the slot of a hapax to look again. Never the hapax itself: that would be a hand-over.
  static void poke(std::uint32_t salt, std::uint64_t hapax) {
    if constexpr (P::sleeps) P::signal(key(salt, hapax));
    else P::domain().notices[index(salt, hapax)].exchange(Hapaxes<P>::next(), order::acq_rel);
  }
};

}  // namespace v0
}  // namespace fairlock
