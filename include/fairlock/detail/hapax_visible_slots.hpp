// SPDX-License-Identifier: Apache-2.0
// VisibleSlots: the slots of the Hapax lock with visible waiters, and how a waiter waits in them.
//
//   visible(h)   0, or the hapax for which one waiter waits      that waiter (0 -> h), its predecessor (h -> 0)
//
// A hapax stands in a slot at most once. So any change that its waiter sees is the hand-over, unless the predecessor
// has left. In that case, the table of leavers says so.
//
// A waiter that finds its slot taken watches depart, or (`collision`) the notice of the same index, or waits on a chain
// of the slot. Only on a chain can the waiter learn that its predecessor has left. So a lock whose waiters can leave,
// or can sleep, uses chains.
#pragma once

#include <fairlock/detail/hapax_slots.hpp>
#include <fairlock/detail/layout.hpp>

namespace fairlock {
inline namespace v0 {

enum class VwCollision { watch_depart, wait_invisibly, chain };

// How a release that has written depart notices a waiter that became visible after the release first looked at the
// slot.
enum class VwCatch {
  rmw,             // an RMW on the slot: the release sees the waiter, or the waiter sees the release, without a fence
  fence_cas,       // the listing's CAS. If it fails, it is only a load, so the release and the waiter each need a fence
  fence_load_cas,  // the same, with a load before the CAS
};

struct HapaxVwOptions {
  HapaxHash hash = HapaxHash::block;
  bool memoise = false;
  VwCollision collision = VwCollision::watch_depart;
  VwCatch catch_late = VwCatch::rmw;
  bool look_first = true;      // load the slot before the CAS that hands over: no RMW if no thread waits
  unsigned visible_looks = 0;  // looks before a waiter gives its slot back and waits invisibly; 0: no limit
  bool roll_back = false;      // an uncontended release restores arrive, and the hapax is used again
  bool early_fetch = false;
  // How often a waiter looks at depart before it becomes visible. With few threads, this moves one cache line less.
  unsigned looks = 4;
  Layout layout = Layout::together;
};

template <Platform P, HapaxVwOptions O>
struct VisibleSlots {
  using Slots = HapaxSlots<P, O.hash, O.memoise>;
  using WaitResult = typename Slots::WaitResult;
  static constexpr auto collision = P::sleeps ? VwCollision::chain : O.collision;
  static constexpr bool chained = collision == VwCollision::chain;
  static constexpr bool notices = collision == VwCollision::wait_invisibly || O.visible_looks != 0;
  static constexpr bool abandonable = chained && O.visible_looks == 0;

  static auto& slot_of(const void* lock, std::uint64_t hapax) {
    return P::domain().visible[Slots::index(P::salt(lock), hapax)];
  }

  // Wake the waiters on the chain of a slot: those that collided, and those that sleep.
  static void wake(const auto& slot) {
    P::fence_after_rmw();
    Chains<P>::signal(P::key(&slot));
  }

  // Make the successor of a leaver look for the leaver's entry, which is in the table already. If the successor is
  // visible, clearing its slot does that.
  static void poke(const void* lock, std::uint64_t own_hapax) {
    P::fence(order::seq_cst);
    auto& slot = slot_of(lock, own_hapax);
    slot.cas(own_hapax, 0, order::acq_rel);
    wake(slot);
  }

  // The waiter wrote its slot and then looked at depart. We wrote depart and now look at the slot. One of the two sees
  // the other (Dekker).
  static void catch_late(auto& slot, std::uint64_t own_hapax) {
    if constexpr (O.catch_late == VwCatch::rmw) {
      if (slot.fetch_add(0, order::acq_rel) != own_hapax) return;
    } else {
      P::fence(order::seq_cst);
      if (O.catch_late == VwCatch::fence_load_cas && slot.load(order::relaxed) != own_hapax) return;
    }
    slot.cas(own_hapax, 0, order::release);
  }

  // Wait until `before` has departed. If the thread of `before` leaves the line, wait for that thread's predecessor
  // instead.
  template <class Word, Until U>
  [[gnu::noinline]] static WaitResult wait(const Word& depart, const void* lock, std::uint64_t before, const U& until) {
    const auto departed = [&](auto now) { return now == before; };
    // While the waiter is not visible, a predecessor that departs writes depart.
    if (O.looks != 0 && P::await_briefly(depart, departed, O.looks, order::acquire)) return {before, true, false};
    for (;;) {
      auto& slot = slot_of(lock, before);
      if (!slot.cas(0, before, order::acq_rel)) [[unlikely]] {  // another waiter's hapax has the same slot
        if (!wait_unseen(depart, lock, slot, before, until)) return {before, false, false};
        if (departed(depart.load(order::acquire))) return {before, true, false};
      } else {
        if constexpr (O.catch_late != VwCatch::rmw || abandonable) P::fence_after_rmw();
        if (departed(depart.load(order::acquire))) {
          slot.cas(before, 0, order::relaxed);  // a CAS, because another waiter may have the slot by now
          return {before, true, false};
        }
        // If this CAS fails, the predecessor has changed the slot, and the CAS is then the acquire of the hand-over.
        if (!wait_visibly(slot, before, until) && slot.cas(before, 0, order::acq_rel)) {
          if constexpr (O.visible_looks == 0) return {before, false, false};
          Slots::await_departure(depart, lock, before, false, Forever{});
          return {before, true, false};
        }
        if constexpr (!abandonable) return {before, true, false};
      }
      const auto predecessor = Slots::take(before);
      if (!predecessor) return {before, true, false};
      slot.cas(before, 0, order::relaxed);  // we may still be visible: the leaver left before it could see us
      before = *predecessor;
    }
  }

  // Wait until the slot no longer shows `before`. False: `until` or the limit on looks came first.
  template <class Slot, Until U>
  static bool wait_visibly(const Slot& slot, std::uint64_t before, const U& until) {
    const auto gone = [=](auto value) { return value != before; };
    if constexpr (O.visible_looks != 0)
      return P::await_briefly(slot, gone, O.visible_looks, order::acquire).has_value();
    else  // the predecessor may have left before it could see us
      return (abandonable && Slots::has_left(before)) ||
             P::await_until(slot, gone, until, order::acquire, P::key(&slot)).has_value();
  }

  // Wait without the slot, which another waiter has. False: `until` came before `before` departed or left.
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
