// SPDX-License-Identifier: Apache-2.0
// Hapax lock, with invisible waiters: Tidex with an identity that is never used twice, and a waiting array instead of
// one word for everybody. (Dice, Kogan 2026; Listings 2 and 6.)
//
//   field          holds                                              written by
//   arrive_        the hapax of the newest arrival                    each arrival
//   depart_        the hapax of the last owner to leave               the owner, on release
//   notice(h)      the last hapax that departed through this slot     every owner whose hapax falls on the slot
//
//   unlocked: arrive_ == depart_
//
// A waiter waits for its predecessor's hapax p. A slot that shows p is the hand-over itself; any other change means
// "look at depart_ again".
#pragma once

#include <fairlock/detail/hapax_slots.hpp>
#include <fairlock/detail/layout.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

// Skip the slot when nobody has come? That needs a look at arrive_ after the store to depart_, hence a fence on both
// sides (Dekker's pivot), and it touches the lock after freeing it: the next owner must not destroy it at once.
enum class Notify {
  always,
  if_arrived,            // skip the slot whenever arrive_ is still ours
  if_waited_or_arrived,  // the same, but a thread that waited itself bets that others wait too, and does not look
};

struct HapaxOptions {
  HapaxHash hash = HapaxHash::block;
  bool memoise = false;  // remember the slot of the block in use (HapaxHash::block only)
  AfterCollision after_collision = AfterCollision::nothing;
  Notify notify = Notify::always;
  bool early_fetch = false;  // look at depart_ before the arrival's atomic
  // At depart_, before a waiter turns to its slot; with few threads that is a line less to move.
  unsigned looks = 4;
  Layout layout = Layout::together;
};

template <Platform P, HapaxOptions O = HapaxOptions{}>
class HapaxLock {
  using Slots = HapaxSlots<P, O.hash, O.memoise>;
  static constexpr bool heuristic = O.notify == Notify::if_waited_or_arrived;

 public:
  struct Waited {
    std::uint64_t hapax;
    bool waited;
  };
  using Episode = std::conditional_t<heuristic, Waited, std::uint64_t>;

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
    const auto mine = Hapaxes<P>::next();
    [[maybe_unused]] std::uint64_t early = 0;
    if constexpr (O.early_fetch) early = depart_.load(order::acquire);
    const auto before = arrive_.exchange(mine, order::acq_rel);
    if constexpr (O.early_fetch)
      if (early == before) return episode(mine, false);  // before departed, and nobody came until we did
    if (depart_.load(order::acquire) == before) [[likely]]
      return episode(mine, false);
    if (O.looks != 0 && P::await_briefly(depart_, [=](auto now) { return now == before; }, O.looks, order::acquire))
      return episode(mine, true);
    if (Slots::await_departure(depart_, this, before, O.notify != Notify::always, Forever{}).collided)
      Hapaxes<P>::avoid_collision(O.after_collision);
    return episode(mine, true);
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until) {
    std::optional<Episode> got;
    if (!Left<P>::reserve_unless([&] { return (got = try_acquire()).has_value(); }, until)) return got;
    const auto mine = Hapaxes<P>::next();
    const auto waited = Slots::await_departure(depart_, this, arrive_.exchange(mine, order::acq_rel),
                                               O.notify != Notify::always, until);
    if (!waited.admitted) {
      Slots::leave(arrive_, mine, waited.before, [=, this] { Slots::poke(P::salt(this), mine); });
      return std::nullopt;
    }
    Left<P>::give_up_reservation();
    return episode(mine, true);
  }

  std::optional<Episode> try_acquire() {
    // Hapaxes never recur: if arrive_ still is the one that we saw departed, the lock was free all along.
    auto before = depart_.load(order::acquire);
    if (arrive_.load(order::relaxed) != before) return std::nullopt;
    const auto mine = Hapaxes<P>::next();
    if (!arrive_.cas(before, mine, order::acq_rel)) return std::nullopt;
    return episode(mine, false);
  }

  void release(Episode held) {
    const auto mine = hapax(held);
    const auto salt = P::salt(this);
    P::publish(depart_, mine, Slots::key(salt, mine));
    if constexpr (O.notify != Notify::always) {
      if (!waited(held)) {
        P::fence(order::seq_cst);
        if (arrive_.load(order::relaxed) == mine) return;
      }
    }
    Slots::notify(salt, mine);
  }

  bool locked() const { return arrive_.load(order::relaxed) != depart_.load(order::relaxed); }

  template <class V>
  void fields(V&& visit) const {
    visit("arrive", arrive_);
    visit("depart", depart_);
  }

 private:
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  static Episode episode(std::uint64_t mine, [[maybe_unused]] bool waited) {
    if constexpr (heuristic) return {mine, waited};
    else return mine;
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
