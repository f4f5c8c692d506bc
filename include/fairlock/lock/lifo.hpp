// SPDX-License-Identifier: Apache-2.0
// LIFO: the newest waiter is admitted first. The lock is as unfair as possible on purpose, to test a capacitor.
//
//   field          holds                                                  written by
//   top_           null: unlocked; locked_empty: held, without waiters;   arrivals (push), the owner (pop, free)
//                  else the newest waiter
//   element.next   the value of top_ before its waiter's push             its waiter, before the push
//   element.gate   1: enter                                               the owner that pops it; its waiter (0)
//
// Only the owner pops. Pushes may cover the top that the owner has read, but nothing replaces that element, so there is
// no ABA problem.
#pragma once

#include <fairlock/detail/element.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class LifoLock {
  struct alignas(P::sector) Element {
    typename P::template atomic<Element*> next;
    typename P::template atomic<std::uint32_t> gate;
    template <class V>
    void fields(V&& visit) const {
      visit("next", next);
      visit("gate", gate);
    }
  };

 public:
  using Episode = NoContext;

  static constexpr Properties properties{
      .name = "lifo",
      .source = "folklore; Capacitor paper, §4",
      .spinning = "L+P",
      .order = Order::lifo,
      .constant_time_release = false,
      .on_stack = true,
      .space = "S*L + E*T",
  };

  Episode acquire() {
    Element* top = nullptr;
    if (top_.compare_exchange(top, locked_empty(), order::acquire)) return {};
    // A thread waits for one lock at a time, and its element is off the stack when it returns, so one element is
    // enough.
    auto& own_element = P::template local<Element>();
    own_element.gate.init(0);
    for (;;) {
      if (top == nullptr) {
        if (top_.compare_exchange(top, locked_empty(), order::acquire)) return {};
      } else {
        own_element.next.init(top);
        if (top_.compare_exchange(top, &own_element, order::release)) break;
      }
    }
    P::await(own_element.gate, [](auto gate) { return gate != 0; }, order::acquire);
    return {};
  }

  std::optional<Episode> try_acquire() {
    if (!top_.cas(nullptr, locked_empty(), order::acquire)) return std::nullopt;
    return Episode{};
  }

  void release(Episode) {
    Element* top = top_.load(order::acquire);
    for (;;) {
      if (top == locked_empty()) {
        if (top_.compare_exchange(top, nullptr, order::acq_rel)) return;
      } else if (top_.compare_exchange(top, top->next.load(order::relaxed), order::acq_rel)) {
        return P::publish(top->gate, 1u);
      }
    }
  }

  bool locked() const { return top_.load(order::relaxed) != nullptr; }

  template <class V>
  void fields(V&& visit) const {
    visit("top", top_);
  }

 private:
  static Element* locked_empty() { return reinterpret_cast<Element*>(std::uintptr_t{1}); }

  typename P::template atomic<Element*> top_;
};

}  // namespace v0
}  // namespace fairlock
