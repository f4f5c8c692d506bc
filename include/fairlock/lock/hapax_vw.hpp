// SPDX-License-Identifier: Apache-2.0
// Hapax lock with visible waiters: a waiter writes the hapax for which it waits into the slot, and its predecessor
// clears the slot to hand over. Under contention, neither touches the lock body. (Dice, Kogan 2026; Listings 3 and 5.)
//
//   field         holds                                               written by
//   arrive_       the hapax of the newest arrival                     each arrival; an owner that rolls back
//   depart_       the last hapax that departed without a hand-over    the owner, when it finds no visible waiter
//   visible(h)    0, or the hapax for which one waiter waits          that waiter (0 -> h), its predecessor (h -> 0)
//
//   unlocked: arrive_ == depart_
//
// detail/hapax_visible_slots.hpp says how a waiter waits in its slot, and what it does if another waiter has the slot.
#pragma once

#include <fairlock/detail/hapax_visible_slots.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P, HapaxVwOptions O = HapaxVwOptions{}>
class HapaxVwLock {
  using Visible = VisibleSlots<P, O>;
  using Slots = typename Visible::Slots;

  static constexpr HapaxVwOptions timed_options() {
    HapaxVwOptions options = O;
    options.collision = VwCollision::chain;
    options.visible_looks = 0;
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
    const auto own_hapax = next();
    [[maybe_unused]] std::uint64_t early = 0;
    if constexpr (O.early_fetch) early = depart_.load(order::acquire);
    const auto before = arrive_.exchange(own_hapax, order::acq_rel);
    if constexpr (O.early_fetch)
      if (early == before) return own_hapax;
    if (depart_.load(order::acquire) != before) [[unlikely]]
      Visible::wait(depart_, this, before, Forever{});
    return own_hapax;
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until)
    requires Visible::abandonable
  {
    std::optional<Episode> episode;
    if (!Leavers<P>::reserve_unless([&] { return (episode = try_acquire()).has_value(); }, until)) return episode;
    const auto own_hapax = Hapaxes<P>::next();
    const auto before = arrive_.exchange(own_hapax, order::acq_rel);
    if (depart_.load(order::acquire) != before) {
      const auto waited = Visible::wait(depart_, this, before, until);
      if (!waited.admitted) {
        Slots::leave(arrive_, own_hapax, waited.before, [=, this] { Visible::poke(this, own_hapax); });
        return std::nullopt;
      }
    }
    Leavers<P>::give_up_reservation();
    return own_hapax;
  }

  std::optional<Episode> try_acquire() {
    // While ownership passes from slot to slot, depart_ is out of date, but then it differs from arrive_ anyway.
    auto before = depart_.load(order::acquire);
    if (arrive_.load(order::relaxed) != before) return std::nullopt;
    const auto own_hapax = next();
    if (arrive_.cas(before, own_hapax, order::acq_rel)) return own_hapax;
    if constexpr (O.roll_back) Hapaxes<P>::give_back(own_hapax);
    return std::nullopt;
  }

  void release(Episode own_hapax) {
    if constexpr (O.roll_back) {
      // If the CAS succeeds, no other thread has seen the hapax. We may read depart_, because only an owner writes it.
      if (arrive_.load(order::relaxed) == own_hapax &&
          arrive_.cas(own_hapax, depart_.load(order::relaxed), order::release))
        return Hapaxes<P>::give_back(own_hapax);
    }
    const auto salt = P::salt(this);
    auto& slot = P::domain().visible[Slots::own_index(salt, own_hapax)];
    if ((!O.look_first || slot.load(order::relaxed) == own_hapax) && slot.cas(own_hapax, 0, order::release)) {
      if constexpr (P::sleeps) Visible::wake(slot);
      return;
    }
    depart_.store(own_hapax, order::release);
    if constexpr (Visible::notices) Slots::notify(salt, own_hapax);
    Visible::catch_late(slot, own_hapax);
    if constexpr (Visible::chained) Visible::wake(slot);
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

  Word arrive_;
  Word depart_;
};

}  // namespace v0
}  // namespace fairlock
