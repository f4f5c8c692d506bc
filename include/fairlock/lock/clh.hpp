// SPDX-License-Identifier: Apache-2.0
// CLH: a queue that exists only in the waiters' heads; each watches the node of its predecessor and keeps it
// afterwards, so nodes circulate between threads. (Craig 1993; Magnusson, Landin, Hagersten 1994. How to leave: Scott,
// Scherer 2001; with nodes that circulate nobody has to wait for an answer.)
//
//   field        holds                                                       written by
//   tail_        the newest node; null: no thread was here yet               each arrival; the last in line, when it leaves (back)
//   node.state   busy: its owner waits for the lock, or holds it             its owner, and nobody else
//                free: its owner has released the lock
//                another node: its owner has left; wait for that one
//
//   unlocked: tail_ is null, or the first node from there on that was not left is free. A null tail stands for the usual dummy node,
//   so all-zero memory is an unlocked lock; the last nodes stay with the lock, and the destructor frees them.
//
// A node belongs to its owner, then to its successor: whoever arrived next, or inherited it from one who left. Nobody
// else may look at it, because by then it may be a node of another lock, or freed. So a try too stands in line, for a
// moment.
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
    Node* mine;
    Node* before;  // whose owner has gone: ours to keep
    bool under_way() const { return mine != nullptr && mine->state.load(order::relaxed) == busy(); }
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

  // Fails also behind somebody who only tries, and is about to leave.
  std::optional<Episode> try_acquire() {
    return arrive([](const auto& state) { return state.load(order::acquire); });
  }

  void release(Episode episode) {
    if (episode.before) Nodes::give(episode.before);  // must not throw, because the lock is still held
    P::publish(episode.mine->state, free());
  }

  // Not in line, we look at nodes that are not ours: for tests, and whoever knows that nobody leaves or ends meanwhile.
  bool locked() const {
    const Node* const last = tail_.load(order::acquire);  // a newcomer's node must be seen as it was made
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

  // look(): the state of the node before us, and busy if we do not want to wait any longer.
  template <class F>
  std::optional<Episode> arrive(const F& look) {
    Node* const mine = Nodes::take();  // may throw, so it comes before we stand in line
    mine->state.init(busy());
    Node* const before = tail_.exchange(mine, order::acq_rel);
    if (before == nullptr || before->state.load(order::acquire) == free()) [[likely]]
      return Episode{mine, before};
    return stand_in_line(mine, before, look);
  }

  template <class F>
  [[gnu::noinline]] std::optional<Episode> stand_in_line(Node* mine, Node* before, const F& look) {
    for (;;) {
      Node* const state = look(before->state);
      if (state == free()) return Episode{mine, before};
      if (state == busy()) break;
      Nodes::give(before);  // ours, since its owner has left
      before = state;
    }
    leave(mine, before);
    return std::nullopt;
  }

  void leave(Node* mine, Node* before) {
    // The last in line undoes its arrival. Nobody but us could take `before`. Whatever its owner does meanwhile, it
    // says so there, for the next who looks: it releases, and the lock is free; or it leaves too.
    if (tail_.cas(mine, before, order::acq_rel)) return Nodes::give(mine);
    P::publish(mine->state, before);  // to our successor, whose both are now
  }

  typename P::template atomic<Node*> tail_;
};

}  // namespace v0
}  // namespace fairlock
