// TWA semaphore: a ticket semaphore augmented with a waiting array. Near waiters watch grant_, far ones a slot of the
// domain's array, so a release invalidates at most `threshold` waiters. (Dice, Kogan 2025; Listing 2 of the semaphore
// paper.)
//
//   ticket_, grant_   as in the ticket semaphore, whose try_acquire and value are ours too
//   counter(t)        changes when ticket t turns near; written by the release that brings it within the threshold
//
// A release pokes the slots of the tickets that it turns near. With `fast_path` it looks at ticket_ first and pokes only for
// tickets that have been drawn. Then the releaser writes grant_ and reads ticket_, the waiter writes ticket_ and reads grant_
// (Dekker's pivot): hence a fence on both sides, the waiter's only on its slow path; and the semaphore is touched after the
// permit was given away, so whoever got it must not destroy the semaphore at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include <fairlock/domain.hpp>
#include <fairlock/hash.hpp>
#include <fairlock/semaphore/ticket.hpp>

namespace fairlock {
inline namespace v0 {

struct TwaSemaphoreOptions {
  unsigned threshold = 1;  // LongTermThreshold: a ticket within it of grant_ is near
  TicketHash hash = TicketHash::weyl17;
  bool fast_path = false;  // leave the array alone when nobody waits far away
  Layout layout = Layout::together;
  std::uint64_t initial = 0;  // permits in all-zero memory
};

template <Platform P, TwaSemaphoreOptions O = TwaSemaphoreOptions{}>
class TwaSemaphore : public TicketSemaphore<P, TicketSemaphoreOptions{.layout = O.layout, .initial = O.initial}> {
  using Counts = TicketSemaphore<P, TicketSemaphoreOptions{.layout = O.layout, .initial = O.initial}>;
  using Counts::grant_, Counts::ticket_;

 public:
  using Counts::Counts;

  static constexpr Properties properties{
      .name = "twa-semaphore",
      .source = "Dice, Kogan 2025; semaphore paper, Listing 2",
      .spinning = "U+S",
      .waiting_array = true,
      .release_touches_lock = O.fast_path,
      .space = "S*L + 4096",
  };

  void acquire() {
    const auto mine = ticket_.fetch_add(1, order::relaxed);
    if (grant_.load(order::acquire) + O.initial <= mine) [[unlikely]] wait(mine);
  }

  void release(std::uint64_t permits = 1) {
    const auto salt = P::salt(this);  // before the permit is given away: afterwards the semaphore may be gone
    const auto first = grant_.fetch_add(permits, order::acq_rel) + O.initial + O.threshold;
    auto end = first + permits;
    if constexpr (O.fast_path) {
      P::fence_after_rmw();
      end = std::min(end, ticket_.load(order::relaxed));  // whoever draws a ticket from now on sees our grant
    }
    if (end <= first) return;
    if (end - first < P::slots()) {
      for (auto near = first; near < end; ++near) poke(slot_of_ticket(O.hash, salt, near, P::slots()));
    } else {
      for (std::uint32_t i = 0; i < P::slots(); ++i) poke(i);  // so many permits that every slot is concerned
    }
  }

 private:
  [[gnu::noinline]] void wait(std::uint64_t mine) {
    auto& far = P::domain().counters[slot_of_ticket(O.hash, P::salt(this), mine, P::slots())];
    if constexpr (O.fast_path) P::fence(order::seq_cst);  // our ticket before any look at grant_ that makes us wait
    for (;;) {
      // The slot first, then grant_: a release in between has changed the slot that we remember.
      const auto seen = far.load(order::acquire);
      if (mine < grant_.load(order::acquire) + O.initial + O.threshold) break;
      P::await(far, [=](auto value) { return value != seen; }, order::acquire);
    }
    P::await(grant_, [=](auto granted) { return granted + O.initial > mine; }, order::acquire);
  }

  static void poke(std::uint32_t index) { P::domain().counters[index].fetch_add(1, order::release); }
};

}  // namespace v0
}  // namespace fairlock
