// TWA: a ticket lock augmented with a waiting array. Near waiters (within `threshold` of the head) watch grant_ as in a
// ticket lock; far ones watch a slot of the domain's array, so a release invalidates at most `threshold` waiters.
// (Dice, Kogan 2019; Listing 1.1.)
//
//   ticket_, grant_   as in the ticket lock, whose try_acquire is ours too
//   slot(t)           changes when ticket t turns near; written by the release that admits ticket t - threshold
//
// A slot says nothing but "look at grant_ again": collisions cost a look. With `hapax` the slot is given a hapax instead
// of an increment.
#pragma once

#include <fairlock/hapax.hpp>
#include <fairlock/lock/ticket.hpp>

namespace fairlock {
inline namespace v0 {

struct TwaOptions {
  unsigned threshold = 1;  // LongTermThreshold. 0: even the successor waits in the array
  TicketHash hash = TicketHash::weyl127;
  bool hapax = false;
  bool early_fetch = false;  // look at grant_ before the arrival's atomic
  Layout layout = Layout::together;
};

template <Platform P, TwaOptions O = TwaOptions{}>
class TwaLock : public TicketLock<P, TicketOptions{.layout = O.layout}> {
  using Counts = TicketLock<P, TicketOptions{.layout = O.layout}>;
  using Counts::grant_, Counts::ticket_;

 public:
  using Episode = typename Counts::Episode;

  static constexpr Properties properties{
      .name = "twa",
      .source = "Dice, Kogan 2019; TWA paper, Listing 1.1",
      .spinning = "U+S",
      .waiting_array = true,
      .space = "S*L + 4096",
      .paper_branches = "4+0",
      .paper_misses = "T-2",
      .paper_invalidations = "8.5 (T)",
  };

  Episode acquire() {
    [[maybe_unused]] std::uint64_t early = 0;
    if constexpr (O.early_fetch) early = grant_.load(order::acquire);
    const auto mine = ticket_.fetch_add(1, order::relaxed);
    if constexpr (O.early_fetch)
      if (early == mine) return {};  // as in the ticket lock: tickets never recur
    if (const auto now = grant_.load(order::acquire); now != mine) [[unlikely]] wait(mine, now);
    return {};
  }

  void release(Episode) {
    // The salt before the store: afterwards the lock may already be gone.
    const auto salt = P::salt(this);
    const auto admitted = grant_.load(order::relaxed) + 1;
    grant_.store(admitted, order::release);  // the hand-over; the rest only prepares the next one
    auto& poked = slot(salt, admitted + O.threshold);
    // An RMW in both forms. With a plain store of a hapax, one that is earlier in the slot's modification order could
    // come later in time, and a waiter that saw the other would never learn that its ticket turned near.
    if constexpr (O.hapax) poked.exchange(Hapaxes<P>::next(), order::release);
    else poked.fetch_add(1, order::release);
  }

 private:
  void wait(std::uint64_t mine, std::uint64_t now) {
    if (mine - now > O.threshold) {
      auto& far = slot(P::salt(this), mine);
      for (;;) {
        // The slot first, then grant_: a release in between has changed the slot that we remember.
        const auto seen = far.load(order::acquire);
        if (mine - grant_.load(order::acquire) <= O.threshold) break;
        P::await(far, [=](auto value) { return value != seen; }, order::acquire);
      }
    }
    P::await(grant_, [=](auto value) { return value == mine; }, order::acquire);
  }

  static auto& slot(std::uint32_t salt, std::uint64_t ticket) {
    const auto index = slot_of_ticket(O.hash, salt, ticket, P::slots());
    if constexpr (O.hapax) return P::domain().notices[index];
    else return P::domain().counters[index];
  }
};

}  // namespace v0
}  // namespace fairlock
