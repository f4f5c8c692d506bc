// SPDX-License-Identifier: Apache-2.0
// Far waiting: what TWA adds to the line of tickets, for its lock and its semaphore alike. Near waiters (within
// `threshold` of being admitted) watch the grant; far ones wait in the domain, each at the place of its own ticket,
// until they are near.
//
//   Far::counter   a slot that counts pokes. It says nothing but "look at the grant again": collisions cost a look
//   Far::notice    the same, but the slot is given a hapax
//   Far::futex     the counter, on which far waiters sleep in the kernel
//   Far::chain     a waiting chain (waiting/chain.hpp). Where waiters may sleep, this is how they do
//
// A near waiter that may be asleep needs a poke of its own when it is admitted. So where waiters sleep the threshold is
// 0: to wake one that is only near would be to wake it twice.
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

  // Waits until ticket `mine` is admitted; false if `until` came first.
  template <class Line, Until U>
  [[gnu::noinline]] static bool await_turn(const Line& line, const void* owner, std::uint64_t mine, const U& until) {
    const auto& grant = line.grant_;
    const auto near = [&] {
      return Line::distance(grant.load(order::acquire), mine) + static_cast<int>(Threshold) > 0;
    };
    const auto admitted = [=](auto now) { return Line::admits(now, mine); };
    const auto key = P::key(owner, mine);
    if constexpr (where == Far::chain) {
      if (!Chains<P>::wait_until(owner, key, near, until)) return false;
    } else {
      if constexpr (P::looks != 0)
        if (P::satisfied_soon(owner, near, until)) return true;
      auto& far = slot(P::salt(owner), mine);
      for (;;) {
        // The slot first, then the grant: a release in between has changed the slot that we remember.
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

  // Pokes the waiters that must know that `count` tickets from `first` on were admitted. Called after the RMW that
  // admitted them. The line may be gone.
  static void poke_after_rmw(const void* owner, std::uint64_t first, std::uint64_t count) {
    // A waiter announces its sleep and then reads the grant; we wrote the grant and then look for sleeping waiters.
    if constexpr (where == Far::chain || where == Far::futex) P::fence_after_rmw();
    poke(owner, first, count);
  }

  // The same. Called after a write and, where waiters may sleep, a seq_cst fence.
  static void poke(const void* owner, std::uint64_t first, std::uint64_t count) {
    if constexpr (where == Far::chain) {
      const auto all = std::min<std::uint64_t>(count + Threshold, P::slots());  // so many keys visit every chain
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

  // An RMW in every form. With a plain store of a hapax, one that is earlier in the slot's modification order could
  // come later in time, and a waiter that saw the other would never learn that its ticket turned near.
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

  // One RMW counts the poke and clears the bit, so no value recurs. Between two RMWs, a waiter could read the new count
  // with the bit still set. Once another waiter had set the cleared bit again, the word would have that value again,
  // and the first waiter would fall asleep although it was admitted.
  template <class Slot>
  [[gnu::noinline]] static void wake(Slot& far, std::uint64_t now) {
    while ((now & asleep) != 0)
      if (far.compare_exchange(now, now - asleep + one_poke, order::release)) return P::unpark(&far);
  }

  template <class Slot, class Near, Until U>
  static bool sleep(Slot& far, std::uint64_t seen, Near&& near, const U& until) {
    if ((seen & asleep) == 0 && !far.cas(seen, seen | asleep, order::acq_rel)) return true;
    // The bit before the last look at the grant: a release writes the grant, then looks at the bit.
    P::fence(order::seq_cst);
    return near() || P::park(far, seen | asleep, until);
  }
};

}  // namespace v0
}  // namespace fairlock
