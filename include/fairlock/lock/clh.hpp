// CLH: a queue that exists only in the waiters' heads; each watches the node of its predecessor and keeps it
// afterwards, so nodes circulate between threads. (Craig 1993; Magnusson, Landin, Hagersten 1994.)
//
//   field         holds                                            written by
//   tail_         the newest node; null: no thread was here yet    each arrival
//   node.locked   1: its owner waits for the lock or holds it      its owner
//
//   unlocked: tail_ is null, or tail_->locked == 0. A null tail stands for the usual dummy node, so all-zero memory is
//   an unlocked lock; the last node stays with the lock, and the destructor frees it.
#pragma once

#include <fairlock/element.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class ClhLock {
  struct alignas(P::sector) Node : Spare<P, Node> {
    typename P::template atomic<std::uint32_t> locked;
    template <class V>
    void fields(V&& visit) const { visit("locked", locked); }
  };
  using Nodes = PerEpisode<P, Node>;

 public:
  struct Episode {
    Node* mine;
    Node* before;  // whose owner has gone: ours to keep
  };

  static constexpr Properties properties{
      .name = "clh",
      .source = "Craig 1993; Magnusson, Landin, Hagersten 1994",
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
    if (Node* const last = tail_.load(order::relaxed)) P::destroy(last);
  }

  Episode acquire() {
    Node* const mine = Nodes::take();
    mine->locked.init(1);
    Node* const before = tail_.exchange(mine, order::acq_rel);
    if (before) P::await(before->locked, [](auto locked) { return locked == 0; }, order::acquire);
    return {mine, before};
  }

  void release(Episode episode) {
    if (episode.before) Nodes::give(episode.before);
    P::publish(episode.mine->locked, 0u);
  }

  bool locked() const {
    const Node* const last = tail_.load(order::acquire);  // a newcomer's node must be seen as it was made
    return last != nullptr && last->locked.load(order::relaxed) != 0;
  }

  template <class V>
  void fields(V&& visit) const { visit("tail", tail_); }

 private:
  typename P::template atomic<Node*> tail_;
};

}  // namespace v0
}  // namespace fairlock
