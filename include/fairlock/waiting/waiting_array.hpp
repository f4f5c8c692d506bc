// SPDX-License-Identifier: Apache-2.0
// FarWaiting: what the TWA lock and the TWA semaphore add to the line of tickets. Near waiters (within
// `threshold` of being admitted) watch the grant. Far waiters wait in the domain, each in the slot of its ticket, until
// they are near.
//
//   Far::counter   the slot counts pokes. A poke only means "look at the grant again", so a collision costs one look
//   Far::notice    the same, but a poke stores a hapax in the slot
//   Far::futex     the slot counts pokes, and far waiters sleep on it in the kernel
//   Far::chain     a waiting chain (waiting/chain.hpp). Waiters that may sleep always use it
//
// A near waiter that may be asleep must be poked when it is admitted. So the threshold is 0 where waiters sleep: a poke
// when the waiter turns near would wake it twice.
#pragma once

#include <algorithm>

#include <fairlock/detail/hapax_supply.hpp>
#include <fairlock/waiting/chain.hpp>

namespace fairlock {
inline namespace v0 {

enum class Far { counter, notice, futex, chain };

template <Platform P, Far Where, unsigned LongTermThreshold, TicketHash Hash>
struct FarWaiting {
  static constexpr Far where = P::sleeps && Where != Far::futex ? Far::chain : Where;
  static constexpr unsigned Threshold = P::sleeps || Where == Far::futex ? 0 : LongTermThreshold;

  // Wait until the ticket is admitted. False: `until` came first.
  template <class Line, Until U>
  [[gnu::noinline]] static bool await_turn(const Line& line, const void* owner, std::uint64_t ticket, const U& until) {
    const auto& grant = line.grant_;
    const auto near = [&] {
      return Line::distance(grant.load(order::acquire), ticket) + static_cast<int>(Threshold) > 0;
    };
    const auto admitted = [=](auto now) { return Line::admits(now, ticket); };
    const auto key = P::key(owner, ticket);
    if constexpr (where == Far::chain) {
      if (!Chains<P>::wait_until(owner, key, near, until)) return false;
    } else {
      if (P::satisfied_soon(owner, near, until)) return true;
      auto& far = slot(P::salt(owner), ticket);
      for (;;) {
        // Read the slot first and then the grant: a release in between changes the slot, and we notice that.
        const auto seen = far.load(order::acquire);
        if (near()) break;
        if constexpr (where == Far::futex) {
          if (!sleep(far, seen, near, until)) return false;
        } else {
          if (!P::await_until(far, [=](auto value) { return value != seen; }, until, order::acquire)) return false;
        }
      }
    }
    return Threshold == 0 || P::await_until(grant, admitted, until, order::acquire, key).has_value();
  }

  // Poke the waiters that must know that the `count` tickets from `first` on were admitted. Call it after the RMW that
  // admitted them. The line may be gone.
  static void poke_after_rmw(const void* owner, std::uint64_t first, std::uint64_t count) {
    // A waiter announces its sleep and then reads the grant. We wrote the grant and then look for sleeping waiters.
    if constexpr (where == Far::chain || where == Far::futex) P::fence_after_rmw();
    poke(owner, first, count);
  }

  // The same after a write and, where waiters may sleep, a seq_cst fence.
  static void poke(const void* owner, std::uint64_t first, std::uint64_t count) {
    if constexpr (where == Far::chain) {
      const auto all = std::min<std::uint64_t>(count + Threshold, P::slots());  // this many keys cover every chain
      for (std::uint64_t i = 0; i < all; ++i) Chains<P>::signal(P::key(owner, first + i));
    } else {
      const auto salt = P::salt(owner);
      if (count < P::slots()) [[likely]] {
        for (std::uint64_t i = 0; i < count; ++i)
          poke_slot(slot_of_ticket(Hash, salt, first + Threshold + i, P::slots()));
      } else {
        poke_every_slot();
      }
    }
  }

 private:
  // Far::futex: the lowest bit says that a waiter sleeps here, so that a poke knows whether to call the kernel.
  static constexpr std::uint64_t asleep = 1, one_poke = 2;

  static auto& slot(std::uint32_t salt, std::uint64_t ticket) {
    const auto index = slot_of_ticket(Hash, salt, ticket, P::slots());
    if constexpr (where == Far::notice) return P::domain().notices[index];
    else return P::domain().counters[index];
  }

  // Every form is an RMW. Two plain stores of hapaxes could enter the slot's modification order in the opposite order
  // to that in which their releases wrote the grant, and a waiter that saw only one of them would never learn that its
  // ticket has turned near.
  static void poke_slot(std::uint32_t index) {
    if constexpr (where == Far::notice) {
      P::domain().notices[index].exchange(Hapaxes<P>::next(), order::release);
    } else {
      auto& counter = P::domain().counters[index];
      if constexpr (where == Far::futex) {
        // A waiter that has not yet set the bit will see our grant before it sleeps (below).
        const auto now = counter.load(order::relaxed);
        if ((now & asleep) != 0) [[unlikely]]
          wake(counter, now);
      } else {
        counter.fetch_add(one_poke, order::release);
      }
    }
  }

  [[gnu::noinline]] static void poke_every_slot() {
    for (std::uint32_t i = 0; i < P::slots(); ++i) poke_slot(i);
  }

  // One RMW counts the poke and clears the bit, so no value recurs. With two RMWs, a waiter could read the new count
  // while the bit is still set. After another waiter had set the cleared bit again, the word would hold that value once
  // more, and the first waiter would fall asleep although it was admitted.
  template <class Slot>
  [[gnu::noinline]] static void wake(Slot& far, std::uint64_t now) {
    while ((now & asleep) != 0)
      if (far.compare_exchange(now, now - asleep + one_poke, order::release)) return P::unpark(&far);
  }

  template <class Slot, class Near, Until U>
  static bool sleep(Slot& far, std::uint64_t seen, Near&& near, const U& until) {
    if ((seen & asleep) == 0 && !far.cas(seen, seen | asleep, order::acq_rel)) return true;
    // Set the bit before the last look at the grant: a release writes the grant and then looks at the bit.
    P::fence(order::seq_cst);
    return near() || P::park(far, seen | asleep, until);
  }
};

}  // namespace v0
}  // namespace fairlock
