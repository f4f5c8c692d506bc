// Ticket lock: FIFO, two words, no context. Every waiter watches grant_, so each release invalidates them all.
// With `backoff`, a waiter pauses between two looks in proportion to the number of threads before it (Scott & Brown,
// Figure 4.7): fewer looks, the same line.
//
//   field     holds                        written by
//   ticket_   the next ticket to hand out  each arrival
//   grant_    the ticket now admitted      the owner, on release
//
//   unlocked: ticket_ == grant_            in line: ticket_ - grant_ - 1
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/layout.hpp>

namespace fairlock {
inline namespace v0 {

struct TicketOptions {
  unsigned backoff = 0;  // pauses for each thread ahead: about the length of a trivial critical section; 0: none
  bool early_fetch = false;  // look at grant_ before the arrival's atomic
  Layout layout = Layout::together;
};

template <Platform P, TicketOptions O = TicketOptions{}>
class TicketLock {
 public:
  using Episode = NoContext;

  static constexpr Properties properties{
      .name = O.backoff ? "ticket-backoff" : "ticket",
      .source = O.backoff ? "Mellor-Crummey, Scott 1991; Scott & Brown, Figure 4.7" : "Reed, Kanodia 1979; TWA paper, Listing 1.1",
      .spinning = "U+G",
      .parkable = O.backoff == 0,
      .paper_branches = O.backoff ? "-" : "1+0",
      .paper_misses = O.backoff ? "-" : "T",
      .paper_invalidations = O.backoff ? "-" : "10 (T)",
  };

  Episode acquire() {
    if constexpr (O.early_fetch) {
      // Safe because tickets never recur: if the ticket we draw is the one we saw admitted, nobody came in between.
      const auto seen = grant_.load(order::acquire);
      const auto mine = ticket_.fetch_add(1, order::relaxed);
      if (seen != mine) await_turn(mine);
    } else {
      await_turn(ticket_.fetch_add(1, order::relaxed));
    }
    return {};
  }

  std::optional<Episode> try_acquire() {
    // 64-bit tickets never recur: if ticket_ still equals the grant we read, the lock was free all along.
    auto now = grant_.load(order::acquire);
    if (!ticket_.cas(now, now + 1, order::relaxed)) return std::nullopt;
    return Episode{};
  }

  void release(Episode) { grant_.store(grant_.load(order::relaxed) + 1, order::release); }

  bool locked() const { return ticket_.load(order::relaxed) != grant_.load(order::relaxed); }

  template <class V>
  void fields(V&& visit) const {
    visit("ticket", ticket_);
    visit("grant", grant_);
  }

 protected:  // TWA waits elsewhere, but counts the same way
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  void await_turn(std::uint64_t mine) {
    const auto my_turn = [=](auto now) { return now == mine; };
    if constexpr (O.backoff == 0)
      P::await(grant_, my_turn, order::acquire);
    else
      P::await_paced(grant_, my_turn, [=](auto now) { return O.backoff * static_cast<unsigned>(mine - now); }, order::acquire);
  }

  Word ticket_;
  Word grant_;
};

}  // namespace v0
}  // namespace fairlock
