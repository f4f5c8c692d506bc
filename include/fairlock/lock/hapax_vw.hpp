// Hapax lock with visible waiters: a waiter writes the hapax that it waits for into the slot, and its predecessor hands
// over by clearing it. Under contention neither touches the lock body. (Dice, Kogan 2026; Listings 3 and 5.)
//
//   field         holds                                               written by
//   arrive_       the hapax of the newest arrival                     each arrival; an owner that rolls back
//   depart_       the last hapax that departed without a hand-over    the owner, when it finds no visible waiter
//   visible(h)    0, or the hapax that one waiter waits for           that waiter (0 -> h), its predecessor (h -> 0)
//
//   unlocked: arrive_ == depart_
//
// A hapax stands in a slot at most once, so any change that its waiter sees is the hand-over. A waiter that finds its
// slot taken waits for depart_, or (`collision`) for the notice of the same index.
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/layout.hpp>
#include <fairlock/lock/hapax_slots.hpp>

namespace fairlock {
inline namespace v0 {

enum class VwCollision { watch_depart, wait_invisibly };

// How release, once depart_ is written, catches a waiter that became visible too late to be found before.
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
  bool look_first = true;    // look at the slot before the CAS that hands over: no RMW where nobody waits
  unsigned patience = 0;     // looks before a waiter gives its slot back and waits invisibly; 0: never
  bool roll_back = false;    // uncontended release: arrive_ back to what depart_ shows, and the hapax is used again
  bool early_fetch = false;
  unsigned looks = 4;        // at depart_, before a waiter shows itself; with few threads that is a line less to move
  Layout layout = Layout::together;
};

template <Platform P, HapaxVwOptions O = HapaxVwOptions{}>
class HapaxVwLock {
  using Slots = HapaxSlots<P, O.hash, O.memoise>;
  static constexpr bool notices = O.collision == VwCollision::wait_invisibly || O.patience != 0;

 public:
  using Episode = std::uint64_t;  // the hapax

  static constexpr Properties properties{
      .name = "hapax-vw",
      .source = "Dice, Kogan 2026; Hapax paper, Listings 3 and 5",
      .spinning = "U+S",
      .waiting_array = true,
      .space = "S*L + 4096",
      .paper_branches = "6+1",
      .paper_misses = "4",
      .paper_invalidations = "4",
  };

  Episode acquire() {
    const auto mine = next();
    [[maybe_unused]] std::uint64_t early = 0;
    if constexpr (O.early_fetch) early = depart_.load(order::acquire);
    const auto before = arrive_.exchange(mine, order::acq_rel);
    if constexpr (O.early_fetch)
      if (early == before) return mine;
    if (depart_.load(order::acquire) != before) [[unlikely]] wait(before);
    return mine;
  }

  std::optional<Episode> try_acquire() {
    // While ownership is handed over from slot to slot depart_ is old, but then it differs from arrive_ all the more.
    auto before = depart_.load(order::acquire);
    if (arrive_.load(order::relaxed) != before) return std::nullopt;
    const auto mine = next();
    if (arrive_.cas(before, mine, order::acq_rel)) return mine;
    if constexpr (O.roll_back) Hapaxes<P>::give_back(mine);
    return std::nullopt;
  }

  void release(Episode mine) {
    if constexpr (O.roll_back) {
      // Nobody saw the hapax if the CAS succeeds. depart_ is ours to read: only owners write it.
      if (arrive_.load(order::relaxed) == mine && arrive_.cas(mine, depart_.load(order::relaxed), order::release))
        return Hapaxes<P>::give_back(mine);
    }
    const auto salt = P::salt(this);
    auto& slot = P::domain().visible[Slots::own_index(salt, mine)];
    if ((!O.look_first || slot.load(order::relaxed) == mine) && slot.cas(mine, 0, order::release)) return;
    depart_.store(mine, order::release);
    if constexpr (notices) Slots::notify(salt, mine);
    catch_late(slot, mine);
  }

  bool locked() const { return arrive_.load(order::relaxed) != depart_.load(order::relaxed); }

  template <class V>
  void fields(V&& visit) const {
    visit("arrive", arrive_);
    visit("depart", depart_);
  }

 private:
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  static std::uint64_t next() { return O.roll_back ? Hapaxes<P>::next_or_returned() : Hapaxes<P>::next(); }

  // The waiter wrote its slot and then looked at depart_; we wrote depart_ and now look at the slot. One of the two must
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

  [[gnu::noinline]] void wait(std::uint64_t before) {
    // Not visible yet: a predecessor that leaves now writes depart_.
    if (O.looks != 0 && P::await_briefly(depart_, [=](auto now) { return now == before; }, O.looks, order::acquire)) return;
    const auto gone = [=](auto value) { return value != before; };
    auto& slot = P::domain().visible[Slots::index(P::salt(this), before)];
    if (!slot.cas(0, before, order::acq_rel)) [[unlikely]] {  // another waiter's hapax fell on the same slot
      if constexpr (O.collision == VwCollision::wait_invisibly)
        Slots::await_departure(depart_, P::salt(this), before, false);
      else
        P::await(depart_, [=](auto now) { return now == before; }, order::acquire);
      return;
    }
    if constexpr (O.catch_late != VwCatch::rmw) P::fence(order::seq_cst);
    if (depart_.load(order::acquire) == before) {
      slot.cas(before, 0, order::relaxed);  // a CAS: the predecessor may have cleared it, and another moved in
      return;
    }
    if constexpr (O.patience == 0) {
      P::await(slot, gone, order::acquire);
    } else {
      if (P::await_briefly(slot, gone, O.patience, order::acquire)) return;
      // If the slot cannot be taken back, it was the hand-over: the acquire is that of the failed CAS.
      if (slot.cas(before, 0, order::acq_rel)) Slots::await_departure(depart_, P::salt(this), before, false);
    }
  }

  Word arrive_;
  Word depart_;
};

}  // namespace v0
}  // namespace fairlock
