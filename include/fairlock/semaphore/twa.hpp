// TWA semaphore: a ticket semaphore augmented with a waiting array. Near waiters watch grant_, far ones a slot of the
// domain's array, so a release invalidates at most `threshold` waiters. (Dice, Kogan 2025; Listing 2 of the semaphore
// paper.)
//
//   field       holds                                           written by
//   ticket_     the next ticket to hand out                     each arrival
//   grant_      how many tickets are admitted: those below it   each release
//   counter(t)  changes when ticket t turns near                the release that brings it within the threshold
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
#include <fairlock/layout.hpp>
#include <fairlock/properties.hpp>

namespace fairlock {
inline namespace v0 {

struct TwaSemaphoreOptions {
  unsigned threshold = 1;  // LongTermThreshold: a ticket within it of grant_ is near
  TicketHash hash = TicketHash::weyl17;
  bool fast_path = false;  // leave the array alone when nobody waits far away
  Layout layout = Layout::together;
};

template <Platform P, TwaSemaphoreOptions O = TwaSemaphoreOptions{}>
class TwaSemaphore {
 public:
  static constexpr Properties properties{
      .name = "twa-semaphore",
      .source = "Dice, Kogan 2025; semaphore paper, Listing 2",
      .spinning = "U+S",
      .waiting_array = true,
      .release_touches_lock = O.fast_path,
      .space = "S*L + 4096",
  };

  constexpr TwaSemaphore() = default;
  explicit TwaSemaphore(std::uint64_t permits) { grant_.init(permits); }

  void acquire() {
    const auto mine = ticket_.fetch_add(1, order::relaxed);
    if (grant_.load(order::acquire) <= mine) [[unlikely]] wait(mine);
  }

  bool try_acquire() {
    auto next = ticket_.load(order::relaxed);
    do {
      if (grant_.load(order::acquire) <= next) return false;
    } while (!ticket_.compare_exchange(next, next + 1, order::relaxed));
    return true;
  }

  void release(std::uint64_t permits = 1) {
    const auto salt = P::salt(this);  // before the permit is given away: afterwards the semaphore may be gone
    const auto first = grant_.fetch_add(permits, order::acq_rel) + O.threshold;
    auto end = first + permits;
    if constexpr (O.fast_path) {
      P::fence_after_rmw();
      end = std::min(end, ticket_.load(order::relaxed));  // whoever draws a ticket from now on sees our grant
    }
    if (end - first < P::slots() || end <= first) {
      for (auto near = first; near < end; ++near) poke(slot_of_ticket(O.hash, salt, near, P::slots()));
    } else {
      for (std::uint32_t i = 0; i < P::slots(); ++i) poke(i);  // so many permits that every slot is concerned
    }
  }

  // Permits to be had just now; negative: so many threads are in line.
  std::int64_t value() const { return static_cast<std::int64_t>(grant_.load(order::relaxed) - ticket_.load(order::relaxed)); }

  template <class V>
  void fields(V&& visit) const {
    visit("ticket", ticket_);
    visit("grant", grant_);
  }

 private:
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  [[gnu::noinline]] void wait(std::uint64_t mine) {
    auto& far = P::domain().counters[slot_of_ticket(O.hash, P::salt(this), mine, P::slots())];
    if constexpr (O.fast_path) P::fence(order::seq_cst);  // our ticket before any look at grant_ that makes us wait
    for (;;) {
      // The slot first, then grant_: a release in between has changed the slot that we remember.
      const auto seen = far.load(order::acquire);
      if (mine < grant_.load(order::acquire) + O.threshold) break;
      P::await(far, [=](auto value) { return value != seen; }, order::acquire);
    }
    P::await(grant_, [=](auto granted) { return granted > mine; }, order::acquire);
  }

  static void poke(std::uint32_t index) { P::domain().counters[index].fetch_add(1, order::release); }

  Word ticket_;
  Word grant_;
};

}  // namespace v0
}  // namespace fairlock
