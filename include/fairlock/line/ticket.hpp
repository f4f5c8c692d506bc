// SPDX-License-Identifier: Apache-2.0
// TicketLine: the line that the locks and semaphores of the ticket family share. It says which tickets are admitted,
// and how a waiter leaves.
//
//   field     holds                                        written by
//   ticket_   the next ticket to hand out                  each arrival; a leaver at the tail, which undoes its arrival
//   grant_    how far the line has moved                   each release
//             with batch_release also, in the high bits,   each leaver that was not at the tail
//             how often a waiter has left the line
//
//   admitted: tickets below grant_ + initial (a lock is a line with one initial permit)
//
// A leaver at the tail undoes its arrival. Any other leaver puts (line, ticket) into the domain's table
// (line/leavers.hpp), and then performs an RMW on grant_. If this RMW comes before the release that admits the ticket,
// the release reads from it, finds the entry and passes the permit on. If the RMW comes after that release, the leaver
// sees that it is admitted after all. The entry is removed once, by the thread that takes the permit.
//
// Once a release has admitted a thread, the line may be gone, and another line may lie at the same address.
//
//   - A release of one permit touches the line again only while it has an entry of the line pinned. An entry exists
//     only while a thread waits behind it (a leaver checks whether it has become the last), and no thread can leave
//     from behind a pinned entry, so the line still exists. If that line has admitted the ticket of an entry, the
//     entry stands for one permit to pass on, whichever release finds it.
//   - A release of several permits may admit an entry together with the threads behind it. So it first takes the
//     entries out, then passes over their tickets in the RMW that publishes the permits, and never touches the line
//     again. A waiter that leaves meanwhile changes the high bits of grant_: the compare-exchange fails, and the
//     release looks again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fairlock/detail/layout.hpp>
#include <fairlock/line/leavers.hpp>

namespace fairlock {
inline namespace v0 {

struct LineOptions {
  std::uint64_t initial = 0;  // tickets admitted at first
  Layout layout = Layout::together;
  bool batch_release = false;  // release() may publish several permits at once; a lock never does
};

template <Platform P, LineOptions O>
class TicketLine {
  using Leavers = fairlock::Leavers<P>;

  // With batch_release, tickets are compared modulo 2^48; slots and chains are chosen by lower bits. A ticket could be
  // mistaken for another only if its owner slept while 2^47 other tickets were admitted. A release could miss
  // departures only if a multiple of 2^16 of them happened between two of its instructions.
  static constexpr unsigned departure_bits = O.batch_release ? 16 : 0;
  static constexpr std::uint64_t one_departure = O.batch_release ? std::uint64_t{1} << (64 - departure_bits) : 0;

 public:
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  // The most permits that the line can hold at once.
  static constexpr std::uint64_t max() { return std::uint64_t{1} << (62 - departure_bits); }

  void start_with(std::uint64_t permits) { grant_.init(permits); }

  static std::int64_t difference(std::uint64_t ticket, std::uint64_t earlier) {
    return static_cast<std::int64_t>((ticket - earlier) << departure_bits) >> departure_bits;
  }

  // How many tickets from t on are admitted. A result that is not positive says how many tickets are ahead of t.
  static std::int64_t distance(std::uint64_t grant, std::uint64_t t) { return difference(grant + O.initial, t); }
  static bool admits(std::uint64_t grant, std::uint64_t t) { return distance(grant, t) > 0; }

  std::uint64_t arrive() { return ticket_.fetch_add(1, order::relaxed); }

  bool try_arrive() {
    auto next = ticket_.load(order::relaxed);
    // If the CAS fails, another thread has changed ticket_, and there may be a permit for the ticket that it now holds.
    // Tickets recur, because a leaver may undo its arrival. But the grant never moves back: an admitted ticket stays
    // admitted.
    do {
      if (!admits(grant_.load(order::acquire), next)) return false;
    } while (!ticket_.compare_exchange(next, next + 1, order::relaxed));
    return true;
  }

  // A timed acquire. wait(ticket) waits for the ticket's turn, and returns whether it came. release_one() gives a
  // permit to the line.
  template <Until U, class W, class F>
  bool acquire_until(const U& until, const W& wait, const F& release_one) {
    bool entered = false;
    if (!Leavers::reserve_unless([&] { return entered = try_arrive(); }, until)) return entered;
    const auto ticket = come_back_or_arrive();
    observer_of(until).claims_permit(true);
    if (!wait(ticket)) {
      observer_of(until).claims_permit(false);
      if (!leave(ticket, release_one)) return false;
    }
    Leavers::give_up_reservation();
    return true;
  }

  // Admits `permits` more tickets. poke(first, count) notifies the waiters with the `count` tickets from `first` on,
  // without touching the line.
  template <class F>
  void release(std::uint64_t permits, const F& poke) {
    if constexpr (O.batch_release)
      if (permits != 1) [[unlikely]]
        return release_several(permits, poke);
    for (std::optional ticket = admit_one(); ticket; ticket = pass_on(*ticket)) {
      poke(*ticket, 1);
      if (!Leavers::any()) [[likely]]
        return;
    }
  }

  // The permits available now. A negative value counts the tickets in line, including those of leavers. The grant only
  // grows: if it is the same before and after, it had this value when the ticket was read. Without this check, a reader
  // that is delayed in between would see permits that never existed.
  std::int64_t value() const {
    for (auto grant = grant_.load(order::acquire);;) {
      const auto next = ticket_.load(order::acquire);
      const auto now = grant_.load(order::acquire);
      if (now == grant) return distance(grant, next);
      grant = now;
    }
  }

  template <class V>
  void fields(V&& visit) const {
    visit("ticket", ticket_);
    visit("grant", grant_);
  }

  Word ticket_;
  Word grant_;

 private:
  std::uint64_t identity() const { return P::identity(this); }

  auto left_with(std::uint64_t t) const {
    return Leavers::find(identity(), [=](const auto& entry) { return difference(entry.value, t) == 0; });
  }

  // A thread that comes back while its entry exists takes that ticket back. Otherwise two threads that poll while a
  // third holds the lock for long would leave more and more entries.
  std::uint64_t come_back_or_arrive() {
    if (Leavers::any()) [[unlikely]] {
      const auto is_own = [serial = P::serial()](const auto& entry) { return entry.serial == serial; };
      const auto own = Leavers::find(identity(), is_own);
      if (own && Leavers::remove(*own)) {
        Leavers::give_up_reservation();
        return own->value;
      }
    }
    return arrive();
  }

  std::uint64_t admit_one() { return grant_.fetch_add(1, order::acq_rel) + O.initial; }

  // A release has just admitted ticket t. If the owner of t has left, admits the next ticket instead, and returns it.
  [[gnu::noinline]] std::optional<std::uint64_t> pass_on(std::uint64_t t) {
    while (auto entry = left_with(t)) {
      if (!Leavers::pin(*entry)) continue;
      // Only the pin proves that there is a line. It may be a later line, which has not yet admitted t.
      if (!admits(grant_.load(order::acquire), t)) {
        Leavers::unpin(*entry);
        return std::nullopt;
      }
      const auto next = admit_one();  // while the entry is pinned: the line may be gone afterwards
      Leavers::remove_pinned(*entry);
      Leavers::give_up_reservation();
      return next;
    }
    return std::nullopt;
  }

  // The line exists until the compare-exchange succeeds, because no thread has received these permits before. Each
  // entry that we take out adds a ticket to pass over. If another release admits that ticket first, its permit remains
  // for us to publish: the sum is the same.
  template <class F>
  [[gnu::noinline]] void release_several(std::uint64_t permits, const F& poke) {
    auto grant = grant_.load(order::acquire);
    std::uint64_t first;
    do {
      first = grant + O.initial;
      const auto passed_over = [&](const auto& entry) {
        const auto place = difference(entry.value, first);
        return place >= 0 && place < static_cast<std::int64_t>(permits);
      };
      while (auto entry = Leavers::find(identity(), passed_over)) {
        if (!Leavers::remove(*entry)) continue;
        Leavers::give_up_reservation();
        ++permits;
      }
    } while (!grant_.compare_exchange(grant, grant + permits, order::acq_rel));
    poke(first, permits);
  }

  // The owner of ticket t, which has a reservation, stops waiting. True: the ticket was admitted after all, and its
  // owner keeps the reservation.
  template <class F>
  [[gnu::noinline]] bool leave(std::uint64_t t, const F& release_one) {
    bool own_ticket = true;
    auto serial = P::serial();
    for (;;) {
      // We are the last in line: undo the arrival. A permit granted meanwhile stays in the line for the next arrival.
      while (ticket_.cas(t + 1, t, order::acq_rel)) {
        Leavers::give_up_reservation();
        // The leaver before us may have put its entry only because we stood behind it. We undo our arrival and then
        // look for the entry; that leaver puts the entry and then looks whether we are still there.
        P::fence_after_rmw();
        // We stay while a release has the entry pinned, because that release relies on the line until it unpins.
        auto before = left_with(t - 1);
        while (before && !Leavers::remove(*before)) before = left_with(t - 1);
        if (!before) return false;
        --t;
        serial = before->serial;
        own_ticket = false;
      }
      const auto entry = Leavers::put(identity(), t, serial);
      // This RMW and that of a release are ordered: the later reads from the earlier.
      if (admits(grant_.fetch_add(one_departure, order::acq_rel), t)) {
        if (!remove(entry, t)) return false;  // the release has found it, and passes the permit on
        if (own_ticket) return true;
        Leavers::give_up_reservation();
        release_one();
        return false;
      }
      P::fence_after_rmw();
      // Done if another thread stands behind us, or has taken the entry out.
      if (ticket_.load(order::relaxed) != t + 1 || !remove(entry, t)) return false;
    }
  }

  // Remove the entry that we put, which may be pinned for a moment. False: another thread has removed it.
  bool remove(typename Leavers::Snapshot entry, std::uint64_t t) {
    while (!Leavers::remove(entry)) {
      const auto again = left_with(t);
      if (!again) return false;
      entry = *again;
    }
    return true;
  }
};

}  // namespace v0
}  // namespace fairlock
