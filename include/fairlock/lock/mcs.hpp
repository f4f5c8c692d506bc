// SPDX-License-Identifier: Apache-2.0
// MCS: a queue of nodes, in which each waiter watches its own node. (Mellor-Crummey, Scott 1991.)
//
//   field         holds                                written by
//   tail_         the newest node, or null: unlocked   each arrival; the owner, if no thread has come after it
//   node.next     the successor's node                 the successor, once
//   node.locked   1: wait                              its owner (1), its predecessor (0)
//
// Its waiters cannot leave. In the published variants whose waiters can, a leaver waits for its neighbours (Scott,
// Scherer 2001), or the lock is several times as long (Scott 2002).
#pragma once

#include <fairlock/detail/element.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class McsLock {
  struct alignas(P::sector) Node : Spare<P, Node> {
    typename P::template atomic<Node*> next;
    typename P::template atomic<std::uint32_t> locked;
    template <class V>
    void fields(V&& visit) const {
      visit("next", next);
      visit("locked", locked);
    }
  };
  using Nodes = PerEpisode<P, Node>;

 public:
  using Episode = Node*;

  static constexpr Properties properties{
      .name = "mcs",
      .source = "Mellor-Crummey, Scott 1991",
      .spinning = "L+P",
      .constant_time_release = false,
      .allocates = true,
      .space = "S*L + E*A",
      .paper_branches = "2+3",
      .paper_misses = "4",
      .paper_invalidations = "6",
  };

  Episode acquire() {
    Node* const own_node = new_node();
    if (Node* const before = tail_.exchange(own_node, order::acq_rel)) {
      own_node->locked.init(1);  // no thread sees the node yet: the next store shows it to the predecessor
      P::publish(before->next, own_node);
      P::await(own_node->locked, [](auto locked) { return locked == 0; }, order::acquire);
    }
    return own_node;
  }

  std::optional<Episode> try_acquire() {
    if (tail_.load(order::relaxed) != nullptr) return std::nullopt;
    Node* const own_node = new_node();
    if (tail_.cas(nullptr, own_node, order::acq_rel)) return own_node;
    Nodes::give(own_node);
    return std::nullopt;
  }

  void release(Episode own_node) {
    Node* after = own_node->next.load(order::acquire);
    if (after == nullptr) {
      if (tail_.cas(own_node, nullptr, order::release)) return Nodes::give(own_node);
      // The successor is between its exchange and its link, so it will come.
      after = P::await(own_node->next, [](auto next) { return next != nullptr; }, order::acquire);
    }
    P::publish(after->locked, 0u);
    Nodes::give(own_node);
  }

  bool locked() const { return tail_.load(order::relaxed) != nullptr; }

  template <class V>
  void fields(V&& visit) const {
    visit("tail", tail_);
  }

 private:
  static Node* new_node() {
    Node* const node = Nodes::take();
    node->next.init(nullptr);
    return node;
  }

  typename P::template atomic<Node*> tail_;
};

}  // namespace v0
}  // namespace fairlock
