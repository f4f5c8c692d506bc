// SPDX-License-Identifier: Apache-2.0
// Visible waiting: the slots of the Hapax lock with visible waiters, and how to wait in them.
//
//   visible(h)   0, or the hapax that one waiter waits for; written by that waiter (0 -> h) and by its predecessor (h -> 0)
//
// A hapax stands in a slot at most once, so any change that its waiter sees is the hand-over, unless the predecessor
// has left (then the table says so). A waiter that finds its slot taken waits for depart, or (`collision`) for the
// notice of the same index, or on a chain of the slot. Only on a chain it learns that its predecessor has left: so the
// lock that can be left, and the one whose waiters sleep, uses chains.
#pragma once

#include <fairlock/detail/hapax_slots.hpp>
#include <fairlock/detail/layout.hpp>

namespace fairlock {
inline namespace v0 {

enum class VwCollision { watch_depart, wait_invisibly, chain };

// How release, once depart is written, catches a waiter that became visible too late to be found before.
enum class VwCatch {
  rmw,        // an RMW on the slot, which either sees the waiter or is seen by it: needs no fence
  fence_cas,  // the listing's CAS: where it fails it is only a load, so it needs a fence here and one in the waiter
  fence_load_cas,  // the polite form: look first
};

struct HapaxVwOptions {
  HapaxHash hash = HapaxHash::block;
  bool memoise = false;
  VwCollision collision = VwCollision::watch_depart;
  VwCatch catch_late = VwCatch::rmw;
  bool look_first = true;  // look at the slot before the CAS that hands over: no RMW where nobody waits
  unsigned patience = 0;   // looks before a waiter gives its slot back and waits invisibly; 0: never
  bool roll_back = false;  // uncontended release: arrive back to what depart shows, and the hapax is used again
  bool early_fetch = false;
  unsigned looks = 4;  // at depart, before a waiter shows itself; with few threads that is a line less to move
  Layout layout = Layout::together;
};

template <Platform P, HapaxVwOptions O>
struct VisibleSlots {
  using Slots = HapaxSlots<P, O.hash, O.memoise>;
  using Waited = typename Slots::Waited;
  static constexpr auto collision = P::sleeps ? VwCollision::chain : O.collision;
  static constexpr bool chained = collision == VwCollision::chain;
  static constexpr bool notices = collision == VwCollision::wait_invisibly || O.patience != 0;
  static constexpr bool abandonable = chained && O.patience == 0;

  static auto& slot_of(const void* lock, std::uint64_t hapax) {
    return P::domain().visible[Slots::index(P::salt(lock), hapax)];
  }

  // Those on the chain of a slot: colliding waiters, and sleeping ones.
  static void wake(const auto& slot) {
    P::fence_after_rmw();
    Chains<P>::signal(P::key(&slot));
  }

  // Tells the successor of a hapax that has left. The entry is in the table: if the successor is visible by now,
  // clearing its slot makes it look there.
  static void poke(const void* lock, std::uint64_t mine) {
    P::fence(order::seq_cst);
    auto& slot = slot_of(lock, mine);
    slot.cas(mine, 0, order::acq_rel);
    wake(slot);
  }

  // The waiter wrote its slot and then looked at depart; we wrote depart and now look at the slot. One of the two must
  // see the other (Dekker).
  static void catch_late(auto& slot, std::uint64_t mine) {
    if constexpr (O.catch_late == VwCatch::rmw) {
      if (slot.fetch_add(0, order::acq_rel) != mine) return;
    } else {
      P::fence(order::seq_cst);
      if (O.catch_late == VwCatch::fence_load_cas && slot.load(order::relaxed) != mine) return;
    }
    slot.cas(mine, 0, order::release);
  }

  // Waits until `before` has departed, or whoever it waited for if it leaves.
  template <class Word, Until U>
  [[gnu::noinline]] static Waited wait(const Word& depart, const void* lock, std::uint64_t before, const U& until) {
    const auto departed = [&](auto now) { return now == before; };
    // Not visible yet: a predecessor that leaves now writes depart.
    if (O.looks != 0 && P::await_briefly(depart, departed, O.looks, order::acquire)) return {before, true, false};
    for (;;) {
      auto& slot = slot_of(lock, before);
      if (!slot.cas(0, before, order::acq_rel)) [[unlikely]] {  // another waiter's hapax fell on the same slot
        if (!wait_unseen(depart, lock, slot, before, until)) return {before, false, false};
        if (departed(depart.load(order::acquire))) return {before, true, false};
      } else {
        if constexpr (O.catch_late != VwCatch::rmw || abandonable) P::fence_after_rmw();
        if (departed(depart.load(order::acquire))) {
          slot.cas(before, 0, order::relaxed);  // a CAS: the predecessor may have cleared it, and another moved in
          return {before, true, false};
        }
        // If the slot cannot be taken back, something has happened to it: the acquire is that of the failed CAS.
        if (!wait_visibly(slot, before, until) && slot.cas(before, 0, order::acq_rel)) {
          if constexpr (O.patience == 0) return {before, false, false};
          Slots::await_departure(depart, lock, before, false, Forever{});
          return {before, true, false};
        }
        if constexpr (!abandonable) return {before, true, false};
      }
      const auto gone = Slots::take(before);
      if (!gone) return {before, true, false};
      slot.cas(before, 0, order::relaxed);  // if we are visible still: it left before it could see us
      before = *gone;
    }
  }

  // The slot shows `before`. False: it still did when our patience was over.
  template <class Slot, Until U>
  static bool wait_visibly(const Slot& slot, std::uint64_t before, const U& until) {
    const auto gone = [=](auto value) { return value != before; };
    if constexpr (O.patience != 0) return P::await_briefly(slot, gone, O.patience, order::acquire).has_value();
    // It may have left before it could see us.
    else
      return (abandonable && Slots::has_left(before)) ||
             P::await_until(slot, gone, until, order::acquire, P::key(&slot)).has_value();
  }

  // The slot is taken. False: neither departed nor left when `until` came.
  template <class Word, class Slot, Until U>
  static bool wait_unseen(const Word& depart, const void* lock, const Slot& slot, std::uint64_t before,
                          const U& until) {
    const auto departed = [=](auto now) { return now == before; };
    if constexpr (collision == VwCollision::wait_invisibly)
      return Slots::await_departure(depart, lock, before, false, until).admitted;
    else if constexpr (!chained) return P::await_until(depart, departed, until, order::acquire).has_value();
    else
      return Chains<P>::wait_until(
          lock, P::key(&slot), [&] { return departed(depart.load(order::acquire)) || Slots::has_left(before); }, until);
  }
};

}  // namespace v0
}  // namespace fairlock
