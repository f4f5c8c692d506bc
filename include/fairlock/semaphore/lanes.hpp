// Laned semaphore: a ticket semaphore whose waiters watch several words in turn, each on a sector of its own. (The lanes
// that the Capacitor paper sketches, in order.)
//
//   ticket_             the next ticket to hand out: one for all lanes, so that a ticket is a place in the whole order
//   grant_, others_[]   how many tickets of the whole order are admitted, as far as this lane was told
//
// Ticket t waits in lane t mod `lanes`. Were each lane a semaphore with tickets of its own, two threads could swap places
// between choosing a lane and drawing its ticket, and a lane that nobody chooses would keep its permits to itself.
//
// A release tells one lane after the other. Until it is done a lane may lag behind: that delays, but admits nobody who
// is not owed a permit. Every lane is told of every permit, so try_acquire and value may look at the first one only.
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
    : public TicketSemaphore<P, TicketSemaphoreOptions{.layout = Layout::sequestered, .initial = O.initial}> {
  using Counts = TicketSemaphore<P, TicketSemaphoreOptions{.layout = Layout::sequestered, .initial = O.initial}>;
  using Counts::grant_, Counts::ticket_;
  static_assert(O.lanes >= 2, "lanes: two or more (one is the ticket semaphore)");

 public:
  static constexpr Properties properties{
      .name = "laned-semaphore",
      .source = "Dice, Kogan; Capacitor paper, §5",
      .spinning = "U+S",
      .release_touches_lock = true,  // the other lanes, when the first has let the next one in
  };

  constexpr LanedSemaphore() = default;
  explicit LanedSemaphore(std::uint64_t permits) : Counts(permits) {
    for (auto& grant : others_) grant.init(permits);
  }

  void acquire() {
    const auto mine = ticket_.fetch_add(1, order::relaxed);
    const auto lane = mine % O.lanes;
    P::await(lane == 0 ? grant_ : others_[lane - 1], [=](auto granted) { return granted + O.initial > mine; }, order::acquire);
  }

  // The ticket semaphore's way to leave knows one grant only.
  template <class U>
  bool acquire_until(const U&) = delete;

  void release(std::uint64_t permits = 1) {
    Counts::release(permits);
    for (auto& grant : others_) grant.fetch_add(permits, order::release);
  }

  template <class V>
  void fields(V&& visit) const {
    Counts::fields(visit);
    for (unsigned i = 0; i + 1 < O.lanes; ++i) visit("grant", i + 1, others_[i]);
  }

 private:
  typename Counts::Word others_[O.lanes - 1];
};

}  // namespace v0
}  // namespace fairlock
