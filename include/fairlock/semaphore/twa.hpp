// SPDX-License-Identifier: Apache-2.0
// TWA semaphore: a ticket semaphore with a waiting array. Near waiters watch the grant. Far waiters wait in the domain
// (waiting/waiting_array.hpp), so a release invalidates at most `threshold` waiters. (Dice, Kogan 2025. With
// `fast_path` it is Listing 2 of the semaphore paper, and without it that listing with the conservative post of the
// Capacitor paper. With Far::chain and threshold 0 it is Listing 3, and with Far::futex the form that its text
// describes.)
//
//   line_     as in the ticket semaphore, which also provides try_acquire and value
//   slot(t)   changes when ticket t turns near; written by the release that brings it within the threshold
//
// A release pokes the slots of the tickets that it turns near. With `fast_path` it looks at the tickets first, and
// pokes only for those that were drawn. The releaser then writes the grant and reads the ticket, and the waiter writes
// the ticket and reads the grant (Dekker). So both sides need a fence, the waiter only on its slow path. The release
// then touches the semaphore after it has given the permit away, so the thread that gets the permit must not destroy
// the semaphore at once.
#pragma once

#include <algorithm>

#include <fairlock/semaphore/ticket.hpp>
#include <fairlock/waiting/waiting_array.hpp>

namespace fairlock {
inline namespace v0 {

struct TwaSemaphoreOptions {
  unsigned threshold = 1;  // LongTermThreshold: a ticket within it of the grant is near
  TicketHash hash = TicketHash::weyl17;
  Far far = Far::counter;
  bool fast_path = false;  // leave the array alone if no far waiter exists
  std::uint64_t initial = 0;
  Layout layout = Layout::together;
};

template <Platform P, TwaSemaphoreOptions O = TwaSemaphoreOptions{}>
class TwaSemaphore : public TicketSemaphore<P, TicketSemaphoreOptions{.initial = O.initial, .layout = O.layout}> {
  using Base = TicketSemaphore<P, TicketSemaphoreOptions{.initial = O.initial, .layout = O.layout}>;
  using Waiters = FarWaiting<P, O.far, O.threshold, O.hash>;
  using Base::line_;
  using typename Base::Line;

 public:
  using Base::Base;

  static constexpr Properties properties{
      .name = O.far == Far::chain   ? "twa-semaphore-chain"
              : O.far == Far::futex ? "twa-semaphore-futex"
                                    : "twa-semaphore",
      .source = O.far == Far::chain   ? "Dice, Kogan 2025; semaphore paper, Listing 3"
                : O.far == Far::futex ? "Dice, Kogan 2025; semaphore paper, §2"
                : O.fast_path         ? "Dice, Kogan 2025; semaphore paper, Listing 2"
                                      : "Dice, Kogan 2025; semaphore paper, Listing 2, with the Capacitor paper's post",
      .spinning = O.far == Far::chain ? "L+P" : "U+S",
      .waiting_array = true,
      .release_touches_lock = O.fast_path,
      .space = "S*L + 4096",
  };

  void acquire() {
    const auto ticket = line_.arrive();
    if (!Line::admits(line_.grant_.load(order::acquire), ticket)) [[unlikely]]
      wait(ticket, Forever{});
  }

  template <Until U>
  bool acquire_until(const U& until) {
    return line_.acquire_until(until, [&](auto ticket) { return wait(ticket, until); }, [this] { release(); });
  }

  void release(std::uint64_t permits = 1) {
    this->check(permits);
    line_.release(permits, [this](std::uint64_t first, std::uint64_t count) {
      if constexpr (O.fast_path) {
        // A thread that draws its ticket after this fence sees our grant. On a chain, near waiters may be asleep too.
        P::fence_after_rmw();
        constexpr int watching = Waiters::where == Far::chain ? 0 : static_cast<int>(O.threshold);
        const auto drawn = Line::difference(line_.ticket_.load(order::relaxed), first) - watching;
        if (drawn <= 0) return;
        count = std::min(count, static_cast<std::uint64_t>(drawn));
      }
      Waiters::poke_after_rmw(this, first, count);
    });
  }

 private:
  template <Until U>
  bool wait(std::uint64_t ticket, const U& until) {
    if constexpr (O.fast_path) P::fence(order::seq_cst);  // our draw precedes the looks at the grant
    return Waiters::await_turn(line_, this, ticket, until);
  }
};

}  // namespace v0
}  // namespace fairlock
