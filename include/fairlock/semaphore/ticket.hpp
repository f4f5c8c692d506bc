// Ticket semaphore: a ticket lock whose grant may run ahead of the tickets. FIFO; every waiter watches grant_.
// (Dice, Kogan 2025; Listing 1 of the semaphore paper, whose introduction states the test the wrong way round.)
//
//   field     holds                                             written by
//   ticket_   the next ticket to hand out                       each arrival
//   grant_    how many tickets are admitted: those below it     each release, which may be several at a time
//
//   permits: grant_ - ticket_ if positive      in line: ticket_ - grant_ if positive      all zero: no permits
//
// With `initial`, grant_ counts only the permits that were added: all zero is then a semaphore with `initial` permits.
#pragma once

#include <cstdint>

#include <fairlock/layout.hpp>
#include <fairlock/properties.hpp>

namespace fairlock {
inline namespace v0 {

struct TicketSemaphoreOptions {
  Layout layout = Layout::together;
  std::uint64_t initial = 0;  // permits in all-zero memory
};

template <Platform P, TicketSemaphoreOptions O = TicketSemaphoreOptions{}>
class TicketSemaphore {
 public:
  static constexpr Properties properties{
      .name = "ticket-semaphore",
      .source = "Dice, Kogan 2025; semaphore paper, Listing 1",
      .spinning = "U+G",
  };

  static constexpr std::uint64_t initial = O.initial;

  constexpr TicketSemaphore() = default;
  explicit TicketSemaphore(std::uint64_t permits) { grant_.init(permits); }

  void acquire() {
    const auto mine = ticket_.fetch_add(1, order::relaxed);
    P::await(grant_, [=](auto granted) { return granted + initial > mine; }, order::acquire);
  }

  bool try_acquire() {
    auto next = ticket_.load(order::relaxed);
    // A CAS that fails found that another ticket was drawn; there may be a permit for the next one.
    do {
      if (grant_.load(order::acquire) + initial <= next) return false;
    } while (!ticket_.compare_exchange(next, next + 1, order::relaxed));
    return true;
  }

  // Releases may overlap: each RMW carries on the release of the one before it, so an admitted thread has seen them all.
  void release(std::uint64_t permits = 1) { grant_.fetch_add(permits, order::release); }

  // Permits to be had just now; negative: so many threads are in line.
  std::int64_t value() const { return static_cast<std::int64_t>(grant_.load(order::relaxed) + initial - ticket_.load(order::relaxed)); }

  template <class V>
  void fields(V&& visit) const {
    visit("ticket", ticket_);
    visit("grant", grant_);
  }

 protected:  // the TWA semaphore waits elsewhere, but counts the same way
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  Word ticket_;
  Word grant_;
};

}  // namespace v0
}  // namespace fairlock
