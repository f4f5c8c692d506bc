// SPDX-License-Identifier: Apache-2.0
// Reciprocating lock: each arrival pushes itself onto a stack. The owner detaches the whole stack as the next segment.
// The segment is admitted from the top, and each member hands over to the member below. (Dice, Kogan 2025.)
//
//   field          holds                                                  written by
//   arrivals_      null: unlocked; locked_empty: held, and no thread      each arrival; the owner, at a segment's end
//                  has arrived since the last segment was detached;
//                  else the newest arrival
//   element.gate   null: wait; else the end of the segment (below)        its owner (null), its predecessor in the line
//
// The address of an element also marks the end of a segment: the member whose successor would be that element is the
// last one. The order is not FIFO, because a segment is admitted newest first. But a thread that arrives after a
// segment was detached waits for the next segment, so each other thread bypasses a waiter at most once.
#pragma once

#include <fairlock/detail/element.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

struct ReciprocatingOptions {
  Elements elements = Elements::per_thread;
};

template <Platform P, ReciprocatingOptions O = ReciprocatingOptions{}>
class ReciprocatingLock {
  struct alignas(P::sector) Element : Spare<P, Element> {
    typename P::template atomic<Element*> gate;
    template <class V>
    void fields(V&& visit) const {
      visit("gate", gate);
    }
  };
  using Source = ElementsOf<P, Element, O.elements>;
  static constexpr bool per_thread = O.elements == Elements::per_thread;

 public:
  struct Episode {
    Element* successor;    // the next member of this segment, or null
    Element* end;          // the end of this segment
    Element* own_element;  // the owner's element, which release gives back
  };

  static constexpr Properties properties{
      .name = "reciprocating",
      .source = "Dice, Kogan 2025",
      .spinning = "L+P",
      .order = Order::bounded,
      .bypass = 1,
      .on_stack = true,
      .thread_oblivious = !per_thread,
      .allocates = !per_thread,
      .space = "S*L + E*T",
      .paper_branches = "3+2",
      .paper_misses = "2",
      .paper_invalidations = "4",
  };

  Episode acquire() {
    Element* const own_element = Source::take();
    own_element->gate.init(nullptr);
    Episode episode{nullptr, own_element, own_element};
    if (Element* const below = arrivals_.exchange(own_element, order::acq_rel)) {
      episode.successor = below == locked_empty() ? nullptr : below;
      episode.end = P::await(own_element->gate, [](auto gate) { return gate != nullptr; }, order::acquire);
      if (episode.successor == episode.end) {  // the last member: the element below belongs to an earlier owner
        episode.successor = nullptr;
        episode.end = locked_empty();
      }
    }
    return episode;
  }

  std::optional<Episode> try_acquire() {
    if (arrivals_.load(order::relaxed) != nullptr) return std::nullopt;
    Element* const own_element = Source::take();
    own_element->gate.init(nullptr);
    if (arrivals_.cas(nullptr, own_element, order::acq_rel)) return Episode{nullptr, own_element, own_element};
    Source::give(own_element);
    return std::nullopt;
  }

  void release(Episode episode) {
    if (episode.successor) {
      P::publish(episode.successor->gate, episode.end);
    } else if (!arrivals_.cas(episode.end, nullptr, order::release)) {
      Element* const top = arrivals_.exchange(locked_empty(), order::acq_rel);
      P::publish(top->gate, episode.end);
    }
    Source::give(episode.own_element);
  }

  bool locked() const { return arrivals_.load(order::relaxed) != nullptr; }

  template <class V>
  void fields(V&& visit) const {
    visit("arrivals", arrivals_);
  }

 private:
  static Element* locked_empty() { return reinterpret_cast<Element*>(std::uintptr_t{1}); }

  typename P::template atomic<Element*> arrivals_;
};

}  // namespace v0
}  // namespace fairlock
