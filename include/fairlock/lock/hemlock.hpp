// SPDX-License-Identifier: Apache-2.0
// HemLock: a queue like that of CLH, with one word in the lock and one element for each thread. A thread may use its
// element for several locks at once, because the hand-over is the lock's address. (Dice, Kogan 2021.)
//
//   field           holds                                               written by
//   tail_           the newest element, or null: unlocked               each arrival; the owner, if no thread has come
//   element.grant   the lock being handed over, or null                 its owner (lock), that owner's successor (null)
#pragma once

#include <type_traits>

#include <fairlock/detail/element.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

struct HemlockOptions {
  Elements elements = Elements::per_thread;
};

template <Platform P, HemlockOptions O = HemlockOptions{}>
class Hemlock {
  struct alignas(P::sector) Element : Spare<P, Element> {
    typename P::template atomic<const void*> grant;
    template <class V>
    void fields(V&& visit) const {
      visit("grant", grant);
    }
  };
  using Source = ElementsOf<P, Element, O.elements>;
  static constexpr bool per_thread = O.elements == Elements::per_thread;

 public:
  using Episode = std::conditional_t<per_thread, NoContext, Element*>;

  static constexpr Properties properties{
      .name = "hemlock",
      .source = "Dice, Kogan 2021",
      .spinning = "L+S",
      .constant_time_release = false,
      .thread_oblivious = !per_thread,
      .allocates = !per_thread,
      .space = "L + E*T",
      .paper_branches = "2+2",
      .paper_misses = "4",
      .paper_invalidations = "5",
  };

  Episode acquire() {
    Element* const own_element = Source::take();
    if (Element* const before = tail_.exchange(own_element, order::acq_rel)) {
      P::await(before->grant, [this](auto lock) { return lock == this; }, order::acquire);
      P::publish(before->grant, nullptr);  // its owner waits for this before it uses the element again
    }
    return keep(own_element);
  }

  std::optional<Episode> try_acquire() {
    if (tail_.load(order::relaxed) != nullptr) return std::nullopt;
    Element* const own_element = Source::take();
    if (tail_.cas(nullptr, own_element, order::acq_rel)) return keep(own_element);
    Source::give(own_element);
    return std::nullopt;
  }

  void release(Episode episode) {
    Element* const own_element = element(episode);
    // The load before the CAS is for the contended case: a CAS that fails still takes the cache line.
    if (tail_.load(order::relaxed) != own_element || !tail_.cas(own_element, nullptr, order::release)) {
      P::publish(own_element->grant, this);
      P::await(own_element->grant, [](auto lock) { return lock == nullptr; }, order::acquire);
    }
    Source::give(own_element);
  }

  bool locked() const { return tail_.load(order::relaxed) != nullptr; }

  template <class V>
  void fields(V&& visit) const {
    visit("tail", tail_);
  }

 private:
  static Episode keep([[maybe_unused]] Element* own_element) {
    if constexpr (per_thread) return {};
    else return own_element;
  }
  static Element* element([[maybe_unused]] Episode episode) {
    if constexpr (per_thread) return Source::take();
    else return episode;
  }

  typename P::template atomic<Element*> tail_;
};

}  // namespace v0
}  // namespace fairlock
