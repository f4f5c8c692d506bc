// SPDX-License-Identifier: Apache-2.0
// Laned semaphore: a ticket semaphore with several grants, each on its own sector, so that its waiters watch different
// words. (The lanes that the Capacitor paper sketches, but in order.)
//
//   line_.ticket             the next ticket to hand out. All lanes share it, so a ticket is a place in the whole order
//   line_.grant, others_[]   how many tickets of the whole order are admitted, as far as this lane knows
//
// Ticket t waits in lane t mod `lanes`. If each lane were a semaphore with its own tickets, two threads could swap
// places between choosing a lane and drawing its ticket, and a lane that no thread chooses would keep its permits.
//
// A release adds its permits to the line first, and then to one lane after the other. Until it is done, a lane may lag
// behind: this delays a waiter, but admits no waiter without a permit. Every lane learns of every permit, so the line
// alone is enough to try, to leave and to count.
#pragma once

#include <fairlock/semaphore/ticket.hpp>

namespace fairlock {
inline namespace v0 {

struct LanedSemaphoreOptions {
  unsigned lanes = 2;
  std::uint64_t initial = 0;  // permits in all-zero memory
};

template <Platform P, LanedSemaphoreOptions O = LanedSemaphoreOptions{}>
class LanedSemaphore
    : public TicketSemaphore<P, TicketSemaphoreOptions{.initial = O.initial, .layout = Layout::sequestered}> {
  using Base = TicketSemaphore<P, TicketSemaphoreOptions{.initial = O.initial, .layout = Layout::sequestered}>;
  using Base::line_;
  using typename Base::Line;
  static_assert(O.lanes >= 2, "lanes: two or more (one is the ticket semaphore)");

 public:
  static constexpr Properties properties{
      .name = "laned-semaphore",
      .source = "Dice, Kogan; Capacitor paper, §5",
      .spinning = "U+S",
      .release_touches_lock = true,  // the other lanes, after the first has admitted the next thread
  };

  constexpr LanedSemaphore() = default;
  explicit LanedSemaphore(std::uint64_t permits) : Base(permits) {
    for (auto& grant : others_) grant.init(permits);
  }

  void acquire() { await_turn(line_.arrive(), Forever{}); }

  template <Until U>
  bool acquire_until(const U& until) {
    return line_.acquire_until(until, [&](auto ticket) { return await_turn(ticket, until); }, [this] { release(); });
  }

  void release(std::uint64_t permits = 1) {
    this->check(permits);
    line_.release(permits, [this](std::uint64_t first, std::uint64_t count) {
      for (auto& grant : others_) grant.fetch_add(count, order::acq_rel);
      this->wake(first, count);
    });
  }

  template <class V>
  void fields(V&& visit) const {
    Base::fields(visit);
    for (unsigned i = 0; i + 1 < O.lanes; ++i) visit("grant", i + 1, others_[i]);
  }

 private:
  template <Until U>
  bool await_turn(std::uint64_t ticket, const U& until) {
    const auto lane = ticket % O.lanes;
    const auto& grant = lane == 0 ? line_.grant_ : others_[lane - 1];
    return P::await_until(
               grant, [=](auto now) { return Line::admits(now, ticket); }, until, order::acquire, P::key(this, ticket))
        .has_value();
  }

  typename Line::Word others_[O.lanes - 1];
};

}  // namespace v0
}  // namespace fairlock
