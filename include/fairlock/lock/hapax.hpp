// SPDX-License-Identifier: Apache-2.0
// Hapax lock, with invisible waiters: Tidex with identities that are never used twice, and with a waiting array instead
// of one word for all waiters. (Dice, Kogan 2026; Listings 2 and 6.)
//
//   field          holds                                              written by
//   arrive_        the hapax of the newest arrival                    each arrival
//   depart_        the hapax of the last owner to leave               the owner, on release
//   notice(h)      the last hapax that departed through this slot     every owner whose hapax falls on the slot
//
//   unlocked: arrive_ == depart_
//
// A waiter waits for its predecessor's hapax p. If its slot shows p, that is the hand-over. Any other change of the
// slot means "look at depart_ again".
#pragma once

#include <fairlock/detail/hapax_slots.hpp>
#include <fairlock/detail/layout.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

// Whether a release skips the slot if no thread has arrived. To know that, it looks at arrive_ after its store to
// depart_. This needs a fence on both sides (Dekker), and it touches the lock after freeing it, so the next owner must
// not destroy the lock at once.
enum class Notify {
  always,
  if_arrived,            // skip the slot if arrive_ still holds the owner's hapax
  if_waited_or_arrived,  // the same, but an owner that has waited assumes that others wait too, and does not look
};

struct HapaxOptions {
  HapaxHash hash = HapaxHash::block;
  bool memoise = false;  // remember the slot of the block in use (HapaxHash::block only)
  AfterCollision after_collision = AfterCollision::nothing;
  Notify notify = Notify::always;
  bool early_fetch = false;  // look at depart_ before the arrival's RMW
  // How often a waiter looks at depart_ before it turns to its slot. With few threads, this moves one cache line less.
  unsigned looks = 4;
  Layout layout = Layout::together;
};

template <Platform P, HapaxOptions O = HapaxOptions{}>
class HapaxLock {
  using Slots = HapaxSlots<P, O.hash, O.memoise>;
  static constexpr bool heuristic = O.notify == Notify::if_waited_or_arrived;

 public:
  struct EpisodeAndWait {
    std::uint64_t hapax;
    bool waited;
  };
  using Episode = std::conditional_t<heuristic, EpisodeAndWait, std::uint64_t>;

  static constexpr Properties properties{
      .name = "hapax",
      .source = "Dice, Kogan 2026; Hapax paper, Listings 2 and 6",
      .spinning = "U+S",
      .waiting_array = true,
      .release_touches_lock = O.notify != Notify::always,
      .space = "S*L + 4096",
      .paper_branches = "4+0",
      .paper_misses = "4",
      .paper_invalidations = "5",
  };

  Episode acquire() {
    const auto own_hapax = Hapaxes<P>::next();
    [[maybe_unused]] std::uint64_t early = 0;
    if constexpr (O.early_fetch) early = depart_.load(order::acquire);
    const auto before = arrive_.exchange(own_hapax, order::acq_rel);
    if constexpr (O.early_fetch)
      if (early == before) return episode(own_hapax, false);  // `before` had departed, and no thread arrived in between
    if (depart_.load(order::acquire) == before) [[likely]]
      return episode(own_hapax, false);
    if (O.looks != 0 && P::await_briefly(depart_, [=](auto now) { return now == before; }, O.looks, order::acquire))
      return episode(own_hapax, true);
    if (Slots::await_departure(depart_, this, before, O.notify != Notify::always, Forever{}).collided)
      Hapaxes<P>::avoid_collision(O.after_collision);
    return episode(own_hapax, true);
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until) {
    std::optional<Episode> tried;
    if (!Leavers<P>::reserve_unless([&] { return (tried = try_acquire()).has_value(); }, until)) return tried;
    const auto own_hapax = Hapaxes<P>::next();
    const auto waited = Slots::await_departure(depart_, this, arrive_.exchange(own_hapax, order::acq_rel),
                                               O.notify != Notify::always, until);
    if (!waited.admitted) {
      Slots::leave(arrive_, own_hapax, waited.before, [=, this] { Slots::poke(P::salt(this), own_hapax); });
      return std::nullopt;
    }
    Leavers<P>::give_up_reservation();
    return episode(own_hapax, true);
  }

  std::optional<Episode> try_acquire() {
    // Hapaxes never recur: if arrive_ still equals the hapax that we saw in depart_, the lock was free all the time.
    auto before = depart_.load(order::acquire);
    if (arrive_.load(order::relaxed) != before) return std::nullopt;
    const auto own_hapax = Hapaxes<P>::next();
    if (!arrive_.cas(before, own_hapax, order::acq_rel)) return std::nullopt;
    return episode(own_hapax, false);
  }

  void release(Episode held) {
    const auto own_hapax = hapax(held);
    const auto salt = P::salt(this);
    P::publish(depart_, own_hapax, Slots::key(salt, own_hapax));
    if constexpr (O.notify != Notify::always) {
      if (!waited(held)) {
        P::fence(order::seq_cst);
        if (arrive_.load(order::relaxed) == own_hapax) return;
      }
    }
    Slots::notify(salt, own_hapax);
  }

  bool locked() const { return arrive_.load(order::relaxed) != depart_.load(order::relaxed); }

  template <class V>
  void fields(V&& visit) const {
    visit("arrive", arrive_);
    visit("depart", depart_);
  }

 private:
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  static Episode episode(std::uint64_t own_hapax, [[maybe_unused]] bool waited) {
    if constexpr (heuristic) return {own_hapax, waited};
    else return own_hapax;
  }
  static std::uint64_t hapax(Episode held) {
    if constexpr (heuristic) return held.hapax;
    else return held;
  }
  static bool waited([[maybe_unused]] Episode held) {
    if constexpr (heuristic) return held.waited;
    else return false;
  }

  Word arrive_;
  Word depart_;
};

}  // namespace v0
}  // namespace fairlock
