// TicketLine: the line of the ticket family, which locks and semaphores share: who stands in it, who is admitted, and how to
// leave it early.
//
//   field     holds                         written by
//   ticket_   the next ticket to hand out   each arrival; a leaver at the tail, which undoes its own
//   grant_    how far the line has moved    each release
//
//   admitted: tickets below grant_ + initial (a lock is a line with one initial permit)
//
// Whoever leaves the tail takes its ticket back. Elsewhere it puts (line, ticket) into the domain's table, and the release that
// admits the ticket finds it there and passes the permit on. The leaver writes the table and then looks at grant_; the release
// writes grant_ and then looks at the table: with a fence on both sides one of the two sees the other (Dekker). It is removed
// once, by whoever takes the permit.
//
// When a release has admitted somebody, the line may be gone, and another may stand at the same address; so a release touches the
// line again only while it has an entry of it pinned. An entry stands only while somebody waits behind it (a leaver looks whether
// it has become the last), and nobody can get away from behind a pinned entry: so there is a line. And an entry whose ticket that
// line has admitted is one permit to pass on, whoever finds it.
#pragma once

#include <algorithm>
#include <cstdint>

#include <fairlock/layout.hpp>
#include <fairlock/left.hpp>

namespace fairlock {
inline namespace v0 {

struct LineOptions {
  std::uint64_t initial = 0;  // tickets admitted at first
  Layout layout = Layout::together;
};

template <Platform P, LineOptions O>
class TicketLine {
  using Leavers = Left<P>;

 public:
  using Word = Placed<P, O.layout, typename P::template atomic<std::uint64_t>>;

  void start_with(std::uint64_t permits) { grant_.init(permits); }

  // How many tickets from t on are admitted; not positive: t waits behind so many others.
  static std::int64_t distance(std::uint64_t grant, std::uint64_t t) { return static_cast<std::int64_t>(grant + O.initial - t); }
  static bool admits(std::uint64_t grant, std::uint64_t t) { return distance(grant, t) > 0; }

  std::uint64_t arrive() { return ticket_.fetch_add(1, order::relaxed); }

  bool try_arrive() {
    auto next = ticket_.load(order::relaxed);
    // A CAS that fails found that another ticket was drawn; there may be a permit for the next one. Tickets recur, but the
    // grant never goes back: what it admitted stays so.
    do {
      if (!admits(grant_.load(order::acquire), next)) return false;
    } while (!ticket_.compare_exchange(next, next + 1, order::relaxed));
    return true;
  }

  // A timed acquire. wait(ticket) waits for its turn, and tells whether it came; release_one() gives a permit to the line.
  template <Until U, class W, class F>
  bool acquire_until(const U& until, const W& wait, const F& release_one) {
    bool entered = false;
    if (!Leavers::reserve_unless([&] { return entered = try_arrive(); }, until)) return entered;
    const auto mine = come_back_or_arrive();
    until.counted(true);
    if (!wait(mine)) {
      until.counted(false);
      if (!leave(mine, release_one)) return false;
    }
    Leavers::give_up_reservation();
    return true;
  }

  // Admits so many more; poke(first, count) tells those with the tickets from `first` on, and does not touch the line.
  template <class F>
  void release(std::uint64_t permits, const F& poke) {
    do {
      const auto first = grant_.fetch_add(permits, order::acq_rel) + O.initial;
      P::fence_after_rmw();
      poke(first, permits);
      if (!Leavers::anyone()) [[likely]] return;
      permits = take_from_leavers(first, permits);
    } while (permits != 0);
  }

  // Permits to be had just now; negative: so many stand in line, those who left included. The grant only grows: if it was the same
  // before and after, it was so when the ticket was read. Otherwise whoever is held up in between sees permits that never were.
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
    return Leavers::find(identity(), [=](const auto& found) { return found.value == t; });
  }

  // Somebody who comes back while its entry stands takes that ticket back: otherwise two threads that poll behind a long holder
  // would leave entries without end. A thread that only has the number of one that ended is not that one.
  std::uint64_t come_back_or_arrive() {
    if (Leavers::anyone()) [[unlikely]] {
      const auto mine = Leavers::find(identity(), [who = P::serial()](const auto& found) { return found.who == who; });
      if (mine && Leavers::remove(*mine)) {
        Leavers::give_up_reservation();
        return mine->value;
      }
    }
    return arrive();
  }

  // How many of the tickets that a release has admitted were left: their permits are to be passed on.
  [[gnu::noinline]] std::uint64_t take_from_leavers(std::uint64_t first, std::uint64_t count) const {
    std::uint64_t passed = 0;
    const auto admitted = [=](const auto& found) { return found.value - first < count; };
    while (auto found = Leavers::find(identity(), admitted)) {
      if (!Leavers::pin(*found)) continue;
      // Only now we know that there is a line; it may be a later one, which has not come so far.
      if (!admits(grant_.load(order::acquire), found->value)) {
        Leavers::unpin(*found);
        break;
      }
      Leavers::remove_pinned(*found);
      Leavers::give_up_reservation();
      ++passed;
    }
    return passed;
  }

  // Ticket t, which has a reservation, does not want to wait any longer. True: it was admitted after all, and keeps the
  // reservation.
  template <class F>
  [[gnu::noinline]] bool leave(std::uint64_t t, const F& release_one) {
    bool mine = true;
    auto who = P::serial();
    for (;;) {
      while (ticket_.cas(t + 1, t, order::acq_rel)) {  // the last in line: undo the arrival. A grant that came meanwhile stays, for the next
        Leavers::give_up_reservation();
        // The one before may have had to put an entry only because of us. We undo and look for the entry; it puts it and looks
        // whether we are still there.
        P::fence_after_rmw();
        const auto before = left_with(t - 1);
        if (!before || !Leavers::remove(*before)) return false;
        --t;
        who = before->who;
        mine = false;
      }
      const auto entry = Leavers::put(identity(), t, who);
      P::fence(order::seq_cst);
      if (admits(grant_.load(order::acquire), t)) {
        if (!remove(entry, t)) return false;  // the release has found it, and passes the permit on
        if (mine) return true;
        Leavers::give_up_reservation();
        release_one();
        return false;
      }
      if (ticket_.load(order::relaxed) != t + 1 || !remove(entry, t)) return false;  // somebody is behind us, or took us out
    }
  }

  // The entry that we put, unless somebody removed it; it may be pinned for a moment.
  bool remove(typename Leavers::Found entry, std::uint64_t t) {
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
