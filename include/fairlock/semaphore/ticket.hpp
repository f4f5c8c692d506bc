// SPDX-License-Identifier: Apache-2.0
// Ticket semaphore: a ticket lock whose grant may run ahead of the tickets. FIFO; every waiter watches the grant.
// (Dice, Kogan 2025; Listing 1 of the semaphore paper, whose introduction states the test the wrong way round.)
//
//   field         holds                                                          written by
//   line_.ticket  the next ticket to hand out                      each arrival
//   line_.grant   how many tickets are admitted: those below it    each release; several may do so at once
//
//   permits: grant - ticket if positive      in line: ticket - grant if positive      all zero: `initial` permits
#pragma once

#include <algorithm>

#include <fairlock/line/ticket.hpp>
#include <fairlock/properties.hpp>
#include <fairlock/waiting/chain.hpp>

namespace fairlock {
inline namespace v0 {

struct TicketSemaphoreOptions {
  std::uint64_t initial = 0;  // permits of a semaphore that is all zero
  Layout layout = Layout::together;
};

template <Platform P, TicketSemaphoreOptions O = TicketSemaphoreOptions{}>
class TicketSemaphore {
 protected:  // the TWA semaphore waits elsewhere, but has the same line
  using Line = TicketLine<P, LineOptions{.initial = O.initial, .layout = O.layout, .batch_release = true}>;

 public:
  static constexpr Properties properties{
      .name = "ticket-semaphore",
      .source = "Dice, Kogan 2025; semaphore paper, Listing 1",
      .spinning = "U+G",
  };

  static constexpr std::uint64_t initial = O.initial;

  // The most permits that the semaphore can hold at once.
  static constexpr std::uint64_t max() { return Line::max(); }

  constexpr TicketSemaphore() = default;
  explicit TicketSemaphore(std::uint64_t permits) {
    if (permits > max()) P::stop(properties.name, "created with more permits than max()");
    line_.start_with(permits);
  }

  void acquire() { await_turn(line_.arrive(), Forever{}); }

  bool try_acquire() { return line_.try_arrive(); }

  template <Until U>
  bool acquire_until(const U& until) {
    return line_.acquire_until(until, [&](auto ticket) { return await_turn(ticket, until); }, [this] { release(); });
  }

  void release(std::uint64_t permits = 1) {
    check(permits);
    line_.release(permits, [this](std::uint64_t first, std::uint64_t count) { wake(first, count); });
  }

  // The permits available now. A negative value counts the tickets in line.
  std::int64_t value() const { return line_.value(); }

  template <class V>
  void fields(V&& visit) const {
    line_.fields(visit);
  }

 protected:
  // Only for releases of more than 64 permits: smaller releases would take hours to reach max().
  void check(std::uint64_t permits) const {
    if (permits > 64) [[unlikely]]
      if (permits > max() || line_.value() > static_cast<std::int64_t>(max() - permits))
        P::stop(properties.name, "released past max()");
  }

  // Wakes the sleeping waiters among the `count` tickets from `first` on. Called after the RMW that admitted them. The
  // semaphore may be gone.
  void wake(std::uint64_t first, std::uint64_t count) const {
    if constexpr (P::sleeps) {
      P::fence_after_rmw();
      const auto all = std::min<std::uint64_t>(count, P::slots());  // this many keys cover every chain
      for (std::uint64_t i = 0; i < all; ++i) Chains<P>::signal(P::key(this, first + i));
    }
  }

  Line line_;

 private:
  template <Until U>
  bool await_turn(std::uint64_t ticket, const U& until) {
    return P::await_until(
               line_.grant_, [=](auto now) { return Line::admits(now, ticket); }, until, order::acquire,
               P::key(this, ticket))
        .has_value();
  }
};

}  // namespace v0
}  // namespace fairlock
