// SPDX-License-Identifier: Apache-2.0
// CLH: an implicit queue. Each waiter watches the node of its predecessor and keeps that node afterwards, so nodes
// circulate between threads. (Craig 1993; Magnusson, Landin, Hagersten 1994. How a waiter leaves: Scott, Scherer 2001.
// Because the nodes circulate, a leaver need not wait for an answer.)
//
//   field        holds                                                 written by
//   tail_        the newest node; null: no thread has arrived yet      each arrival; the last waiter in line, when it
//                                                                      leaves (to its predecessor)
//   node.state   busy: its owner waits for the lock, or holds it       its owner
//                free: its owner has released the lock
//                another node: its owner has left; wait for that node
//
//   unlocked: tail_ is null, or the first node from the tail on whose owner has not left is free
//
// A null tail replaces the usual dummy node, so all-zero memory is an unlocked lock. The last nodes stay with the lock,
// and the destructor frees them.
//
// A node belongs to its owner, and then to its owner's successor: the next arrival, or a waiter that took it over from
// a leaver. No other thread may look at it, because it may already be a node of another lock, or freed. So even a try
// stands in line for a moment.
#pragma once

#include <fairlock/detail/element.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class ClhLock {
  struct alignas(P::sector) Node : Spare<P, Node> {
    typename P::template atomic<Node*> state;
    template <class V>
    void fields(V&& visit) const {
      visit("state", state);
    }
  };
  using Nodes = PerEpisode<P, Node>;

 public:
  struct Episode {
    Node* own_node;
    Node* before;  // the predecessor's node, which now belongs to this owner
    bool under_way() const { return own_node != nullptr && own_node->state.load(order::relaxed) == busy(); }
  };

  static constexpr Properties properties{
      .name = "clh",
      .source = "Craig 1993; Magnusson, Landin, Hagersten 1994; Scott, Scherer 2001",
      .spinning = "U+P",
      .nodes_circulate = true,
      .allocates = true,
      .space = "S*L + E*(L+T)",
      .paper_branches = "2+0",
      .paper_misses = "4",
      .paper_invalidations = "5",
  };

  constexpr ClhLock() = default;
  ~ClhLock() {
    for (Node* last = tail_.load(order::relaxed); last != nullptr;) {
      Node* const state = last->state.load(order::relaxed);
      P::destroy(last);
      last = has_left(state) ? state : nullptr;
    }
  }

  Episode acquire() { return *acquire_until(Forever{}); }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until) {
    return arrive([&](const auto& state) {
      return P::await_until(state, [](Node* now) { return now != busy(); }, until, order::acquire).value_or(busy());
    });
  }

  // This also fails behind a thread that only tries and is about to leave.
  std::optional<Episode> try_acquire() {
    return arrive([](const auto& state) { return state.load(order::acquire); });
  }

  void release(Episode episode) {
    if (episode.before) Nodes::give(episode.before);  // must not throw, because the lock is still held
    P::publish(episode.own_node->state, free());
  }

  // This looks at nodes although the caller is not in line. It is for tests, and for callers that know that no thread
  // leaves the line or exits meanwhile.
  bool locked() const {
    const Node* const last = tail_.load(order::acquire);  // acquire: the node is seen initialised
    if (last == nullptr) return false;
    Node* state = last->state.load(order::acquire);
    while (has_left(state)) state = state->state.load(order::acquire);
    return state == busy();
  }

  template <class V>
  void fields(V&& visit) const {
    visit("tail", tail_);
  }

 private:
  static Node* free() { return nullptr; }
  static Node* busy() { return reinterpret_cast<Node*>(std::uintptr_t{1}); }
  static bool has_left(Node* state) { return state != free() && state != busy(); }

  // look(state) returns the state of the node before ours, or busy if the thread stops waiting.
  template <class F>
  std::optional<Episode> arrive(const F& look) {
    Node* const own_node = Nodes::take();  // may throw, so it comes before we stand in line
    own_node->state.init(busy());
    Node* const before = tail_.exchange(own_node, order::acq_rel);
    if (before == nullptr || before->state.load(order::acquire) == free()) [[likely]]
      return Episode{own_node, before};
    return stand_in_line(own_node, before, look);
  }

  template <class F>
  [[gnu::noinline]] std::optional<Episode> stand_in_line(Node* own_node, Node* before, const F& look) {
    for (;;) {
      Node* const state = look(before->state);
      if (state == free()) return Episode{own_node, before};
      if (state == busy()) break;
      Nodes::give(before);  // ours, since its owner has left
      before = state;
    }
    leave(own_node, before);
    return std::nullopt;
  }

  void leave(Node* own_node, Node* before) {
    // The last waiter in line undoes its arrival. No other thread could take `before`. The state of `before` tells the
    // next arrival what its owner did meanwhile: free if the owner released the lock, another node if the owner left.
    if (tail_.cas(own_node, before, order::acq_rel)) return Nodes::give(own_node);
    P::publish(own_node->state, before);  // our successor takes over both nodes
  }

  typename P::template atomic<Node*> tail_;
};

}  // namespace v0
}  // namespace fairlock
