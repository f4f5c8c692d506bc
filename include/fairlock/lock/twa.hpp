// SPDX-License-Identifier: Apache-2.0
// TWA: a ticket lock with a waiting array. Near waiters (within `threshold` of the head) watch the grant, as in a
// ticket lock. Far waiters wait in the domain (waiting/waiting_array.hpp), so a release invalidates at most `threshold`
// waiters. (Dice, Kogan 2019; Listing 1.1.)
//
//   line_     as in the ticket lock, which also provides try_acquire
//   slot(t)   changes when ticket t turns near; written by the release that admits ticket t - threshold
#pragma once

#include <fairlock/lock/ticket.hpp>
#include <fairlock/waiting/waiting_array.hpp>

namespace fairlock {
inline namespace v0 {

struct TwaOptions {
  unsigned threshold = 1;  // LongTermThreshold. 0: even the successor waits in the array
  TicketHash hash = TicketHash::weyl127;
  Far far = Far::counter;
  bool early_fetch = false;  // look at the grant before the arrival's RMW
  bool timed = false;
  Layout layout = Layout::together;
};

template <Platform P, TwaOptions O = TwaOptions{}>
class TwaLock : public TicketLock<P, TicketOptions{.timed = O.timed, .layout = O.layout}> {
  using Base = TicketLock<P, TicketOptions{.timed = O.timed, .layout = O.layout}>;
  using Waiters = FarWaiting<P, O.far, O.threshold, O.hash>;
  using Base::line_;
  using typename Base::Line;

 public:
  using Episode = typename Base::Episode;
  using Timed = TwaLock<P, TwaOptions{O.threshold, O.hash, O.far, O.early_fetch, true, O.layout}>;
  using Base::timed;

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
    if constexpr (O.early_fetch) early = line_.grant_.load(order::acquire);
    const auto ticket = line_.arrive();
    if constexpr (O.early_fetch)
      if (Line::admits(early, ticket)) return {};  // as in the ticket lock: an admitted ticket stays admitted
    if (!Line::admits(line_.grant_.load(order::acquire), ticket)) [[unlikely]]
      Waiters::await_turn(line_, this, ticket, Forever{});
    return {};
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until)
    requires timed
  {
    const auto wait = [&](auto ticket) { return Waiters::await_turn(line_, this, ticket, until); };
    if (!line_.acquire_until(until, wait, [this] { release({}); })) return std::nullopt;
    return Episode{};
  }

  void release(Episode) {
    if constexpr (timed) {
      line_.release(1, [this](auto admitted, auto) { Waiters::poke_after_rmw(this, admitted, 1); });
    } else {
      const auto admitted = line_.grant_.load(order::relaxed) + 1;
      line_.grant_.store(admitted, order::release);  // the hand-over; the lines below only prepare the next one
      if constexpr (Waiters::where == Far::chain) P::fence(order::seq_cst);
      Waiters::poke(this, admitted, 1);
    }
  }
};

}  // namespace v0
}  // namespace fairlock
