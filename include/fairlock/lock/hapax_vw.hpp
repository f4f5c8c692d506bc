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
// A hapax stands in a slot at most once, so any change that its waiter sees is the hand-over, unless the predecessor has left
// (then the table says so). A waiter that finds its slot taken waits for depart_, or (`collision`) for the notice of the same
// index, or on a chain of the slot. Only on a chain it learns that its predecessor has left: so the lock that can be left, and the
// one whose waiters sleep, uses chains.
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/layout.hpp>
#include <fairlock/lock/hapax_slots.hpp>

namespace fairlock {
inline namespace v0 {

enum class VwCollision { watch_depart, wait_invisibly, chain };

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
  static constexpr auto collision = P::sleeps ? VwCollision::chain : O.collision;
  static constexpr bool chained = collision == VwCollision::chain;
  static constexpr bool notices = collision == VwCollision::wait_invisibly || O.patience != 0;
  static constexpr bool abandonable = chained && O.patience == 0;

  static constexpr HapaxVwOptions timed_options() {
    HapaxVwOptions options = O;
    options.collision = VwCollision::chain;
    options.patience = 0;
    return options;
  }

 public:
  using Episode = std::uint64_t;  // the hapax
  using Timed = HapaxVwLock<P, timed_options()>;

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
    if (depart_.load(order::acquire) != before) [[unlikely]] wait(before, Forever{});
    return mine;
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until)
    requires abandonable
  {
    if (const auto got = try_acquire()) return got;
    while (!Left<P>::try_reserve()) {
      if (!Left<P>::wait_at_the_door(until)) return std::nullopt;
      if (const auto got = try_acquire()) return got;
    }
    const auto mine = Hapaxes<P>::next();
    const auto before = arrive_.exchange(mine, order::acq_rel);
    const auto waited = depart_.load(order::acquire) == before ? Waited{before, true} : wait(before, until);
    if (!waited.admitted) {
      Slots::leave(arrive_, mine, waited.before, [=, this] {
        // The entry is in the table. If our successor is visible by now, clearing its slot makes it look there.
        P::fence(order::seq_cst);
        auto& slot = slot_of(mine);
        slot.cas(mine, 0, order::acq_rel);
        wake(slot);
      });
      return std::nullopt;
    }
    Left<P>::give_up_reservation();
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
    if ((!O.look_first || slot.load(order::relaxed) == mine) && slot.cas(mine, 0, order::release)) {
      if constexpr (P::sleeps) wake(slot);
      return;
    }
    depart_.store(mine, order::release);
    if constexpr (notices) Slots::notify(salt, mine);
    catch_late(slot, mine);
    if constexpr (chained) wake(slot);
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

  auto& slot_of(std::uint64_t hapax) const { return P::domain().visible[Slots::index(P::salt(this), hapax)]; }

  // Those on the chain of a slot: colliding waiters, and sleeping ones.
  static void wake(const auto& slot) {
    P::fence_after_rmw();
    Chains<P>::signal(P::key(&slot));
  }

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

  struct Waited {
    std::uint64_t before;  // the hapax that departed, or was still to depart when `until` came
    bool admitted;
  };

  // Waits until `before` has departed, or whoever it waited for if it leaves.
  template <Until U>
  [[gnu::noinline]] Waited wait(std::uint64_t before, const U& until) {
    const auto departed = [&](auto now) { return now == before; };
    // Not visible yet: a predecessor that leaves now writes depart_.
    if (O.looks != 0 && P::await_briefly(depart_, departed, O.looks, order::acquire)) return {before, true};
    for (;;) {
      auto& slot = slot_of(before);
      if (!slot.cas(0, before, order::acq_rel)) [[unlikely]] {  // another waiter's hapax fell on the same slot
        if (!wait_unseen(slot, before, until)) return {before, false};
        if (departed(depart_.load(order::acquire))) return {before, true};
      } else {
        if constexpr (O.catch_late != VwCatch::rmw || abandonable) P::fence_after_rmw();
        if (departed(depart_.load(order::acquire))) {
          slot.cas(before, 0, order::relaxed);  // a CAS: the predecessor may have cleared it, and another moved in
          return {before, true};
        }
        // If the slot cannot be taken back, something has happened to it: the acquire is that of the failed CAS.
        if (!wait_visibly(slot, before, until) && slot.cas(before, 0, order::acq_rel)) {
          if constexpr (O.patience == 0) return {before, false};
          Slots::await_departure(depart_, this, before, false, Forever{});
          return {before, true};
        }
        if constexpr (!abandonable) return {before, true};
      }
      const auto gone = Slots::take(before);
      if (!gone) return {before, true};
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
    else return (abandonable && Slots::has_left(before)) || P::await_until(slot, gone, until, order::acquire, P::key(&slot)).has_value();
  }

  // The slot is taken. False: neither departed nor left when `until` came.
  template <class Slot, Until U>
  bool wait_unseen(const Slot& slot, std::uint64_t before, const U& until) {
    const auto departed = [=](auto now) { return now == before; };
    if constexpr (collision == VwCollision::wait_invisibly)
      return Slots::await_departure(depart_, this, before, false, until).admitted;
    else if constexpr (!chained)
      return P::await_until(depart_, departed, until, order::acquire).has_value();
    else
      return Chains<P>::wait_until(P::key(&slot), [&] { return departed(depart_.load(order::acquire)) || Slots::has_left(before); }, until);
  }

  Word arrive_;
  Word depart_;
};

}  // namespace v0
}  // namespace fairlock
