// SPDX-License-Identifier: Apache-2.0
// WaiterLine: those who wait for a notification, in the order in which they came. The inside of a condition
// (condition.hpp).
//
//   field             holds                                                    written by
//   guard_            held while somebody is at the line: a few instructions   waiters and notifiers
//   first_            the longest waiter, or null                              under the guard
//   element.next      the next longest; of the newest: the longest             under the guard; then by its notifier alone
//   element.before    the other way round; null: it is off the line            under the guard
//   element.claimed   0; 1: it was notified, or gives up, whichever was first  its notifier (under the guard), or its owner
//   element.gate      as on a waiting chain (waiting/chain.hpp)                        its owner, and its notifier (woken)
//
// A waiter that gives up when it is notified settles with its notifier over `claimed`: either it takes the
// notification, or the notifier goes on to the next. An element lives on its owner's stack, and an owner that was
// notified touches nothing else: as soon as all are notified, or have returned, the line may be destroyed. This, and
// that whoever gives up and comes back must stand at the end, is why it is not a line of tickets (line/ticket.hpp):
// there waiters look at the grant until the end, and take back the ticket that they left.
#pragma once

#include <cstdint>

#include <fairlock/episode.hpp>
#include <fairlock/line/ring.hpp>
#include <fairlock/lock/tas.hpp>
#include <fairlock/waiting/chain.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class WaiterLine {
  struct Element;

 public:
  // Somebody's place in the line, which is given up on every way out. An exception (from until.interrupted(), or the
  // end of the thread) must not take a notification away with it.
  class Place {
   public:
    explicit Place(WaiterLine& line) : line_(line) { line.arrive(*mine_); }
    ~Place() {
      if (!settled_ && line_.leave(*mine_)) line_.notify(1);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // True: notified. False: `until` came first.
    template <Until U>
    bool wait(const U& until) {
      const bool notified = line_.watch(*mine_, until) || line_.leave(*mine_);
      settled_ = true;
      return notified;
    }

   private:
    WaiterLine& line_;
    typename P::template scoped<Element> mine_;
    bool settled_ = false;
  };

  // Notifies the longest waiters, at most so many, and tells how many.
  std::uint64_t notify(std::uint64_t most) {
    // Nobody waits: leave the guard alone. Whoever let go of the user's lock before we had it is in line, and we see
    // that.
    if (first_.load(order::relaxed) == nullptr) return 0;
    return notify_waiters(most);
  }

  bool empty() const { return first_.load(order::relaxed) == nullptr; }

  template <class V>
  void fields(V&& visit) const {
    guard_.fields(visit);
    visit("first", first_);
  }

 private:
  struct alignas(P::sector) Element {
    typename P::template atomic<std::uint32_t> gate;
    typename P::template atomic<std::uint32_t> claimed;
    typename P::template plain<Element*> next;
    typename P::template plain<Element*> before;
    template <class V>
    void fields(V&& visit) const {
      visit("gate", gate);
      visit("claimed", claimed);
    }
  };

  template <Until U>
  bool watch(Element& mine, const U& until) const {
    if constexpr (P::sleeps && P::looks != 0) {
      const auto woken = [](auto now) { return now == gate_woken; };
      if (P::await_briefly(mine.gate, woken, P::looks, order::acquire)) return true;
      if (P::long_looks != 0 && P::await_if_worthwhile(this, mine.gate, woken, P::long_looks, order::acquire))
        return true;
    }
    return P::watch(mine.gate, until);
  }

  void arrive(Element& mine) {
    mine.gate.init(gate_shut);
    mine.claimed.init(0);
    const Guard held(guard_);
    Element* const first = first_.load(order::relaxed);
    Element* const now = Ring<Element>::append(first, mine);
    if (now != first) first_.store(now, order::relaxed);
  }

  void unlink(Element& element) {
    Element* const first = first_.load(order::relaxed);
    Element* const now = Ring<Element>::remove(first, element);
    element.before = nullptr;  // off the line
    if (now != first) first_.store(now, order::relaxed);
  }

  // Does not want to wait any longer. True: it was notified after all.
  [[gnu::noinline]] bool leave(Element& mine) {
    if (mine.claimed.exchange(1, order::relaxed) != 0) {
      // A notifier has us in hand, and needs our element until it has opened the gate; the line may be gone.
      P::watch(mine.gate, Forever{});
      return true;
    }
    const Guard held(guard_);
    Element* const before = mine.before;
    if (before != nullptr) unlink(mine);
    return false;
  }

  [[gnu::noinline]] std::uint64_t notify_waiters(std::uint64_t most) {
    std::uint64_t count = 0;
    Element *oldest = nullptr, *newest = nullptr;
    {
      const Guard held(guard_);
      while (count < most) {
        Element* const first = first_.load(order::relaxed);
        if (first == nullptr) break;
        unlink(*first);
        if (first->claimed.exchange(1, order::relaxed) != 0) continue;  // it gives up: the notification is for the next
        if (count++ == 0) oldest = first;
        else newest->next = first;
        newest = first;
      }
    }
    // Only now, because with the first one that wakes the line may be gone, and each element with its owner.
    for (std::uint64_t i = 0; i < count; ++i) {
      Element* const next = i + 1 < count ? static_cast<Element*>(oldest->next) : nullptr;
      auto& gate = oldest->gate;
      if (gate.exchange(gate_woken, order::acq_rel) == gate_asleep) P::unpark(&gate);
      oldest = next;
    }
    return count;
  }

  TasLock<P> guard_;
  typename P::template atomic<Element*> first_;
};

}  // namespace v0
}  // namespace fairlock
