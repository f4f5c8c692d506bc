// SPDX-License-Identifier: Apache-2.0
// Tidex: a waiter knows its predecessor's identity and waits until that identity departs. FIFO; every waiter watches
// depart_. (Ramalhete, Correia 2016; Listing 1 of the Hapax paper.)
//
//   field     holds                                         written by
//   arrive_   the identity of the newest arrival            each arrival
//   depart_   the identity of the last owner to leave       the owner, on release
//
//   unlocked: arrive_ == depart_
//
// A thread has two identities. If depart_ still shows one of them, an arrival under it would make the lock look free,
// so the thread takes the other one. Identities recur, so try_acquire cannot be sound on single words.
#pragma once

#include <fairlock/detail/hapax_supply.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

enum class Identity { thread, episode };

struct TidexOptions {
  Identity identity = Identity::thread;  // episode: each episode has its own hapax, and any thread may release
};

template <Platform P, TidexOptions O = TidexOptions{}>
class TidexLock {
 public:
  using Episode = std::uint64_t;  // the identity that this episode arrived under

  static constexpr Properties properties{
      .name = "tidex",
      .source = "Ramalhete, Correia 2016; Hapax paper, Listing 1",
      .spinning = "U+G",
      .thread_oblivious = O.identity == Identity::episode,
      .paper_branches = "1+0",
      .paper_misses = "T",
      .paper_invalidations = "10 (T)",
  };

  Episode acquire() {
    const Episode own_identity = identity();
    const auto before = arrive_.exchange(own_identity, order::acq_rel);
    P::await(depart_, [=](auto now) { return now == before; }, order::acquire, key(before));
    return own_identity;
  }

  void release(Episode own_identity) { P::publish(depart_, own_identity, key(own_identity)); }

  bool locked() const { return arrive_.load(order::relaxed) != depart_.load(order::relaxed); }

  template <class V>
  void fields(V&& visit) const {
    visit("arrive", arrive_);
    visit("depart", depart_);
  }

 private:
  struct Self {
    char identities[2];
  };

  Episode identity() {
    if constexpr (O.identity == Identity::episode) {
      return Hapaxes<P>::next();
    } else {
      const auto primary = reinterpret_cast<std::uintptr_t>(&P::template local<Self>());
      // Only this thread writes its identities into depart_, so it sees its last one there if no other thread has
      // departed since.
      return primary + (depart_.load(order::relaxed) == primary ? 1 : 0);
    }
  }

  // Identities are addresses in the threads' own memory, which lie whole pages apart. Without the mix, all of them
  // would fall on one chain.
  Key key(Episode identity) const { return P::key(this, mix(identity)); }

  typename P::template atomic<std::uint64_t> arrive_;
  typename P::template atomic<std::uint64_t> depart_;
};

}  // namespace v0
}  // namespace fairlock
