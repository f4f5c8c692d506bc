// SPDX-License-Identifier: Apache-2.0
// HapaxSlots: which slot belongs to a hapax, and how a waiter waits there invisibly.
//
//   notice    the last hapax that departed through the slot
//
// An owner writes the notice by an exchange, not by a store. If two owners share a slot, their stores may enter its
// modification order in the opposite order to that in which they wrote their depart words. A waiter that saw only one
// of them would look at an old depart word and sleep on. An RMW continues the release sequence of the RMW before it, so
// a thread that sees any later value also sees both depart words.
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

  // The slot of the calling thread's own hapax. It stays the same for a whole block.
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

  // The key of the threads that sleep until a hapax departs. Like the slot, it stays the same for a whole block.
  static Key key(std::uint32_t salt, std::uint64_t hapax) { return P::key(&P::domain().notices[index(salt, hapax)]); }

  static void notify(std::uint32_t salt, std::uint64_t own_hapax) {
    if constexpr (!P::sleeps) P::domain().notices[own_index(salt, own_hapax)].exchange(own_hapax, order::release);
  }

  struct WaitResult {
    std::uint64_t before;  // the hapax that departed, or that had not departed when `until` came
    bool admitted, collided;
  };

  // Wait until `before` has departed. If the thread of `before` leaves the line, wait for that thread's predecessor
  // instead. `collided`: while the waiter waited, another hapax than `before`
  // departed through the slot. `fenced`: the owner looks at arrive_ after its store
  // to depart_ and may skip the slot, so our look at depart_ must not come before our exchange on arrive_.
  template <class Word, Until U>
  [[gnu::noinline]] static WaitResult await_departure(const Word& depart, const void* lock, std::uint64_t before,
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
        // Read the slot first, and then depart and the table: any change to these also changes the slot, and we notice.
        const auto seen = notice.load(order::acquire);
        if (seen == before || departed()) return {before, true, collided};
        if (!has_left(before)) {
          const auto value = P::await_until(notice, [=](auto now) { return now != seen; }, until, order::acquire);
          if (!value) return {before, false, collided};
          if (*value == before) return {before, true, collided};
          collided = true;
          continue;
        }
      }
      if (const auto predecessor = take(before)) before = *predecessor;
    }
  }

  // --- leavers: the successor of a leaver then waits for the leaver's predecessor ---

  // The entry of a hapax whose thread has left. Its value is the hapax for which that thread waited.
  static auto left_by(std::uint64_t hapax) {
    return Leavers<P>::find(hapax, [](const auto&) { return true; });
  }
  static bool has_left(std::uint64_t hapax) { return left_by(hapax).has_value(); }

  static std::optional<std::uint64_t> take(std::uint64_t hapax) {
    const auto entry = left_by(hapax);
    if (!entry || !Leavers<P>::remove(*entry)) return std::nullopt;
    Leavers<P>::give_up_reservation();
    return entry->value;
  }

  // The calling thread, which has a reservation, stops waiting for `before`. poke() wakes its successor.
  template <class Word, class F>
  [[gnu::noinline]] static void leave(Word& arrive, std::uint64_t own_hapax, std::uint64_t before, const F& poke) {
    auto last = before;
    if (arrive.cas(own_hapax, before, order::acq_rel)) {  // the last in line: undo the arrival
      Leavers<P>::give_up_reservation();
    } else {
      Leavers<P>::put(own_hapax, before, 0);
      poke();
      last = own_hapax;
    }
    // The last leaver has no successor, and its entry would make a free lock look held for ever, so it must remove the
    // entries at the tail. Of two adjacent leavers, one undoes its arrival and then looks for the other's entry. The
    // other puts its entry and then looks at arrive. One of the two sees the other.
    P::fence(order::seq_cst);
    while (const auto entry = left_by(last)) {
      if (!arrive.cas(last, entry->value, order::acq_rel)) return;
      Leavers<P>::remove(*entry);
      Leavers<P>::give_up_reservation();
      last = entry->value;
    }
  }

  // Make the waiter in the slot of a hapax look again. The poke never stores that hapax, because that would be a
  // hand-over.
  static void poke(std::uint32_t salt, std::uint64_t hapax) {
    if constexpr (P::sleeps) P::signal(key(salt, hapax));
    else P::domain().notices[index(salt, hapax)].exchange(Hapaxes<P>::next(), order::acq_rel);
  }
};

}  // namespace v0
}  // namespace fairlock
