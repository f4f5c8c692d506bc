// SPDX-License-Identifier: Apache-2.0
// Ticket lock: FIFO, two words, no context. Every waiter watches the grant, so each release invalidates them all.
// With `backoff`, a waiter pauses between two looks in proportion to the number of threads before it (Scott & Brown,
// Figure 4.7). It looks less often, and the order is the same.
//
//   field         holds                                  written by
//   line_.ticket  the next ticket to hand out            each arrival
//   line_.grant   the ticket now admitted                the owner, on release
//
//   unlocked: ticket == grant                            in line: ticket - grant - 1
//
// With `timed`, waiters can leave (line/ticket.hpp). The release is then an RMW and a look at the domain instead of a
// store. Where waiters may sleep, a store is not enough anyway, so the lock is always timed.
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/line/ticket.hpp>
#include <fairlock/waiting/waiting_array.hpp>

namespace fairlock {
inline namespace v0 {

struct TicketOptions {
  unsigned backoff = 0;      // pauses for each thread ahead, about the length of a trivial critical section
  bool early_fetch = false;  // look at the grant before the arrival's RMW
  bool timed = false;
  Layout layout = Layout::together;
};

template <Platform P, TicketOptions O = TicketOptions{}>
class TicketLock {
 public:
  using Episode = NoContext;
  using Timed = TicketLock<P, TicketOptions{O.backoff, O.early_fetch, true, O.layout}>;
  static constexpr bool timed = O.timed || P::sleeps;

  static constexpr Properties properties{
      .name = O.backoff ? "ticket-backoff" : "ticket",
      .source = O.backoff ? "Mellor-Crummey, Scott 1991; Scott & Brown, Figure 4.7"
                          : "Reed, Kanodia 1979; TWA paper, Listing 1.1",
      .spinning = "U+G",
      .paper_branches = O.backoff ? "-" : "1+0",
      .paper_misses = O.backoff ? "-" : "T",
      .paper_invalidations = O.backoff ? "-" : "10 (T)",
  };

  Episode acquire() {
    if constexpr (O.early_fetch) {
      // Safe, because the grant never moves back: if the grant that we saw admits the ticket that we draw, the ticket
      // is still admitted.
      const auto seen = line_.grant_.load(order::acquire);
      const auto ticket = line_.arrive();
      if (!Line::admits(seen, ticket)) await_turn(ticket, Forever{});
    } else {
      await_turn(line_.arrive(), Forever{});
    }
    return {};
  }

  std::optional<Episode> try_acquire() {
    if (!line_.try_arrive()) return std::nullopt;
    return Episode{};
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until)
    requires timed
  {
    const auto wait = [&](auto ticket) { return await_turn(ticket, until); };
    if (!line_.acquire_until(until, wait, [this] { release({}); })) return std::nullopt;
    return Episode{};
  }

  void release(Episode) {
    if constexpr (timed) {
      line_.release(1, [this](auto admitted, auto) { wake(admitted); });
    } else {
      P::publish(line_.grant_, line_.grant_.load(order::relaxed) + 1);
    }
  }

  void wake([[maybe_unused]] std::uint64_t admitted) const {
    if constexpr (P::sleeps) Sleepers::poke_after_rmw(this, admitted, 1);
  }

  bool locked() const { return line_.value() <= 0; }

  template <class V>
  void fields(V&& visit) const {
    line_.fields(visit);
  }

 protected:  // TWA waits elsewhere, but its line is the same
  using Line = TicketLine<P, LineOptions{.initial = 1, .layout = O.layout}>;

  using Sleepers = FarWaiting<P, Far::chain, 0, TicketHash::weyl127>;  // if waiters sleep, the lock is a TWA lock

  template <Until U>
  bool await_turn(std::uint64_t ticket, const U& until) {
    const auto my_turn = [=](auto now) { return Line::admits(now, ticket); };
    if constexpr (P::sleeps)
      return my_turn(line_.grant_.load(order::acquire)) || Sleepers::await_turn(line_, this, ticket, until);
    else if constexpr (O.backoff == 0)
      return P::await_until(line_.grant_, my_turn, until, order::acquire, P::key(this, ticket)).has_value();
    else
      return P::await_paced(
                 line_.grant_, my_turn,
                 [=](auto now) { return O.backoff * static_cast<unsigned>(1 - Line::distance(now, ticket)); }, until,
                 order::acquire, P::key(this, ticket))
          .has_value();
  }

  Line line_;
};

}  // namespace v0
}  // namespace fairlock
