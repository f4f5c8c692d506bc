// SPDX-License-Identifier: Apache-2.0
// Anderson's array-based queue lock: each waiter watches its own flag. At most N threads may be in line, including the
// owner. One thread more would share a flag with another, and both would enter, so it ends the program with a message.
//
//   field       holds                                        written by
//   next_       tickets handed out                           each arrival
//   serving_    the ticket now admitted                      the owner, on release
//   flags_[i]   whether the waiter at place i may enter      the owner before that waiter (go), that waiter (stop)
//
// All-zero memory must admit ticket 0 and no other, so the flag of place 0 has the opposite meaning.
#pragma once

#include <fairlock/detail/layout.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

struct AndersonOptions {
  unsigned threads = 64;  // in line at once; a power of two
};

template <Platform P, AndersonOptions O = AndersonOptions{}>
class AndersonLock {
 public:
  using Episode = std::uint64_t;  // the owner's ticket

  static constexpr Properties properties{
      .name = "anderson",
      .source = "Anderson 1990",
      .spinning = "U+P",
      .max_threads = O.threads,
      .space = "S*L, S: a sector for each thread",
  };

  Episode acquire() {
    // Both acquire and release: among any N + 1 consecutive tickets, one thread drew two. Through the chain of draws we
    // have seen how far the line had moved when that thread came back. We have also seen that the owner of the ticket N
    // before ours has stopped the flag that we share.
    const auto ticket = next_.fetch_add(1, order::acq_rel);
    if (ticket - serving_.load(order::relaxed) >= O.threads) [[unlikely]]
      P::stop("anderson", "more threads in line than the lock was made for: raise AndersonOptions::threads");
    const auto place = ticket % O.threads;
    P::await(flags_[place], [=](auto flag) { return flag == go(place); }, order::acquire);
    flags_[place].store(!go(place), order::relaxed);
    return ticket;
  }

  std::optional<Episode> try_acquire() {
    auto ticket = next_.load(order::relaxed);
    const auto place = ticket % O.threads;
    // The flag alone could still belong to the ticket N before ours. serving_ shows that it is ours.
    if (serving_.load(order::acquire) != ticket || flags_[place].load(order::acquire) != go(place)) return std::nullopt;
    if (!next_.cas(ticket, ticket + 1, order::acq_rel)) return std::nullopt;  // acq_rel, as in acquire()
    flags_[place].store(!go(place), order::relaxed);
    return ticket;
  }

  void release(Episode ticket) {
    const auto place = (ticket + 1) % O.threads;
    // Store serving_ first: it may be ahead of the flag, but never behind, or an arrival would count one thread too
    // many.
    serving_.store(ticket + 1, order::release);
    P::publish(flags_[place], go(place));
  }

  bool locked() const { return next_.load(order::relaxed) != serving_.load(order::relaxed); }

  template <class V>
  void fields(V&& visit) const {
    visit("next", next_);
    visit("serving", serving_);
    for (unsigned i = 0; i < O.threads; ++i) visit("flag", i, flags_[i]);
  }

 private:
  using Word = typename P::template atomic<std::uint64_t>;
  using Flag = Placed<P, Layout::sequestered, Word>;
  static_assert(O.threads > 0 && (O.threads & (O.threads - 1)) == 0);

  static constexpr std::uint64_t go(std::uint64_t place) { return place != 0; }

  Word next_;
  Word serving_;
  Flag flags_[O.threads];
};

}  // namespace v0
}  // namespace fairlock
