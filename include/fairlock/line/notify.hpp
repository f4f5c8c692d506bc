// SPDX-License-Identifier: Apache-2.0
// WaiterLine: the threads that wait for a notification, in order of arrival. It is the core of a condition
// (condition.hpp).
//
//   field             holds                                                  written by
//   guard_            held while a thread changes the line: for a few        waiters and notifiers
//                     instructions
//   first_            the oldest waiter, or null                             under the guard
//   element.next      the next waiter in order of arrival;                   under the guard; then by its notifier
//                     after the newest waiter, the oldest                    alone
//   element.before    the opposite direction; null: it has left the line     under the guard
//   element.claimed   1: the waiter was notified or gives up, whichever      its notifier (under the guard), or its
//                     came first                                             owner
//   element.gate      as on a waiting chain (waiting/chain.hpp)              its owner, and its notifier (woken)
//
// If a waiter gives up while a notifier notifies it, `claimed` decides: either the waiter accepts the notification, or
// the notifier goes on to the next waiter. An element lives on its owner's stack, and an owner that was notified
// touches nothing else. So the line may be destroyed as soon as every waiter was notified or has returned.
//
// A line of tickets (line/ticket.hpp) would not do. Its waiters look at the grant until the end, so it could not be
// destroyed as early. And a thread that leaves it and comes back takes its old ticket, whereas here it must stand at
// the end.
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
  // The place of the calling thread in the line. Its destructor gives up the place and passes on a notification that
  // has arrived: an exception (from until.interrupted(), or because the thread ends) must not lose it.
  class Place {
   public:
    explicit Place(WaiterLine& line) : line_(line) { line.arrive(*own_element_); }
    ~Place() {
      if (!settled_ && line_.leave(*own_element_)) line_.notify(1);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // True: notified. False: `until` came first.
    template <Until U>
    bool wait(const U& until) {
      const bool notified = line_.watch(*own_element_, until) || line_.leave(*own_element_);
      settled_ = true;
      return notified;
    }

    // In the child of a fork, whose line was made anew: take a place there. If a notifier of the parent had claimed
    // this waiter, the waiter is notified instead.
    void rejoin() {
      if (own_element_->claimed.load(order::relaxed) == 0) line_.append(*own_element_);
      else own_element_->gate.store(gate_woken, order::relaxed);
    }

   private:
    WaiterLine& line_;
    typename P::template scoped<Element> own_element_;
    bool settled_ = false;
  };

  // Notify the oldest waiters, at most `most`. Returns how many.
  std::uint64_t notify(std::uint64_t most) {
    // Leave the guard alone if no thread waits. A thread that released the user's lock before we acquired it is in line
    // already, and we see that.
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
  bool watch(Element& own_element, const U& until) const {
    if constexpr (P::sleeps && P::short_spin != 0) {
      const auto woken = [](auto now) { return now == gate_woken; };
      if (P::await_briefly(own_element.gate, woken, P::short_spin, order::acquire)) return true;
      if (P::long_spin != 0 && P::await_if_worthwhile(this, own_element.gate, woken, P::long_spin, order::acquire))
        return true;
    }
    return P::watch(own_element.gate, until);
  }

  void arrive(Element& own_element) {
    own_element.gate.init(gate_shut);
    own_element.claimed.init(0);
    append(own_element);
  }

  void append(Element& own_element) {
    const Guard held(guard_);
    Element* const first = first_.load(order::relaxed);
    Element* const now = Ring<Element>::append(first, own_element);
    if (now != first) first_.store(now, order::relaxed);
  }

  void unlink(Element& element) {
    Element* const first = first_.load(order::relaxed);
    Element* const now = Ring<Element>::remove(first, element);
    element.before = nullptr;  // off the line
    if (now != first) first_.store(now, order::relaxed);
  }

  // Stop waiting. True: the thread was notified after all.
  [[gnu::noinline]] bool leave(Element& own_element) {
    if (own_element.claimed.exchange(1, order::relaxed) != 0) {
      // A notifier has claimed our element, and needs the element until it has opened the gate. The line may be gone.
      P::watch(own_element.gate, Forever{});
      return true;
    }
    const Guard held(guard_);
    Element* const before = own_element.before;
    if (before != nullptr) unlink(own_element);
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
        if (first->claimed.exchange(1, order::relaxed) != 0) continue;  // this waiter gives up: notify the next one
        if (count++ == 0) oldest = first;
        else newest->next = first;
        newest = first;
      }
    }
    // Open the gates only now: the line may be gone when the first waiter wakes, and each element when its owner does.
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
