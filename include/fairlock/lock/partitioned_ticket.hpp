// SPDX-License-Identifier: Apache-2.0
// Partitioned ticket lock: a ticket lock whose grant is spread over N words, so that waiters watch N different cache
// lines.
//
//   field        holds                                             written by
//   ticket_      the next ticket to hand out                       each arrival
//   grants_[i]   the last admitted ticket that is i modulo N       the owner of the ticket before it, on release
//
//   admitted: grants_[t mod N] == t. All zero: ticket 0 is admitted, none has been drawn.
#pragma once

#include <fairlock/detail/layout.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

struct PartitionedTicketOptions {
  unsigned partitions = 8;  // a power of two
};

template <Platform P, PartitionedTicketOptions O = PartitionedTicketOptions{}>
class PartitionedTicketLock {
 public:
  using Episode = std::uint64_t;  // the owner's ticket

  static constexpr Properties properties{
      .name = "partitioned-ticket",
      .source = "Dice 2011",
      .spinning = "U+S",
      .space = "S*L, S: a sector for each partition",
  };

  Episode acquire() {
    const auto ticket = ticket_.fetch_add(1, order::relaxed);
    P::await(grant(ticket), [=](auto now) { return now == ticket; }, order::acquire, P::key(this, ticket));
    return ticket;
  }

  std::optional<Episode> try_acquire() {
    auto next = ticket_.load(order::relaxed);
    if (grant(next).load(order::acquire) != next || !ticket_.cas(next, next + 1, order::relaxed)) return std::nullopt;
    return next;
  }

  void release(Episode ticket) { P::publish(grant(ticket + 1), ticket + 1, P::key(this, ticket + 1)); }

  bool locked() const {
    const auto next = ticket_.load(order::relaxed);
    return grants_[next % O.partitions].load(order::relaxed) != next;
  }

  template <class V>
  void fields(V&& visit) const {
    visit("ticket", ticket_);
    for (unsigned i = 0; i < O.partitions; ++i) visit("grant", i, grants_[i]);
  }

 private:
  using Word = Placed<P, Layout::sequestered, typename P::template atomic<std::uint64_t>>;
  static_assert(O.partitions > 0 && (O.partitions & (O.partitions - 1)) == 0);

  Word& grant(std::uint64_t ticket) { return grants_[ticket % O.partitions]; }

  Word ticket_;
  Word grants_[O.partitions];
};

}  // namespace v0
}  // namespace fairlock
