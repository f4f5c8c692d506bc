// SPDX-License-Identifier: Apache-2.0
// Capacitor: makes any lock fair by admitting threads to it in platoons. (Dice, Kogan; Capacitor paper, Listings 1 and
// 2. A ticket semaphore gives the simplistic form, a TWA semaphore the scalable form.)
//
//   field             holds                                      written by
//   inner_            the wrapped lock                           its own algorithm
//   gate.semaphore    `platoon` permits at first                 arrivals (take one), the last member of a platoon
//                                                                (returns all)
//   gate.departures   departed members of this platoon           each departure; the last member of the platoon (0)
//
//   idle: permits + departed == platoon       closed: no permits, and departed < platoon
//
// The permits come back only when the whole platoon has departed, and the semaphore is FIFO. So a thread that arrives
// `platoon` places after a waiter enters after it, whatever the inner lock does. In all, at most platoon - 1 later
// arrivals enter before a waiter. No thread does so twice while different threads hold the places of the platoon.
//
// A member departs while it still holds the inner lock, just before it releases it. The bound is the same, and release
// touches nothing after the inner release. In the listings, a member departs after the inner release (`late_depart`),
// when the next owner may already have destroyed the lock.
//
// Three options avoid the cost of arriving. They give up the bound, and are fair only in the long run:
//
//   skip       a thread skips the capacitor with some probability
//   activate   a thread skips it while the inner lock is free
//   lanes      a thread arrives at one of several capacitors, chosen at random. One capacitor with several lanes would
//              lose the permits of a lane that no thread chooses. (The lanes of semaphore/lanes.hpp keep the bound.)
#pragma once

#include <cstdint>
#include <type_traits>

#include <fairlock/detail/layout.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

// How many members of the platoon have departed. Each departure is an RMW, because a thread that abandons the inner
// lock, or fails to get it, departs without holding it. It is relaxed, because the permits carry the order: the last
// member clears the count before it opens the gate for the next platoon.
template <Platform P>
class Departures {
 public:
  // True for the last member: it must return the permits of the whole platoon.
  bool depart(std::uint64_t platoon) {
    if (departed_.fetch_add(1, order::relaxed) + 1 != platoon) return false;
    departed_.store(0, order::relaxed);  // no race: every member has departed, and no thread can arrive
    return true;
  }
  std::int64_t count() const { return static_cast<std::int64_t>(departed_.load(order::relaxed)); }

  template <class V>
  void fields(V&& visit) const {
    visit("departed", departed_);
  }

 private:
  typename P::template atomic<std::uint64_t> departed_;
};

struct CapacitorOptions {
  unsigned platoon = 10;
  Chance skip{};             // the probability that a thread skips the capacitor
  bool at_run_time = false;  // set() provides platoon and skip
  bool activate = false;     // arrive only if the inner lock is not free
  unsigned lanes = 1;        // capacitors before the inner lock, chosen at random; a power of two
  bool late_depart = false;  // depart after the inner release, as in the listings
  Layout layout = Layout::sequestered;
};

template <Platform P, class Semaphore, EpisodicLock Inner, CapacitorOptions O = CapacitorOptions{}>
class Capacitor {
  static_assert(O.platoon >= 1, "platoon: at least one thread");
  static_assert(O.skip.valid(), "skip: a probability, from 0 to 1");
  static_assert(O.lanes != 0 && (O.lanes & (O.lanes - 1)) == 0, "lanes: a power of two");
  static_assert(!O.activate || TryLock<Inner>, "activate: the inner lock needs try_acquire()");
  static_assert(Semaphore::initial == (O.at_run_time ? 0 : O.platoon),
                "the semaphore begins with a permit for each member of the platoon");

  static constexpr bool bounded = !O.at_run_time && O.skip.times == 0 && !O.activate && O.lanes == 1;
  static constexpr unsigned none = O.lanes;  // the lane of an episode that did not arrive

  struct InnerAndLane {
    [[no_unique_address]] typename Inner::Episode inner;
    std::uint32_t lane;
  };

 public:
  using Timed = Capacitor<P, Semaphore, timed_form<Inner>, O>;

  // If every episode arrives, and at the same gate, there is nothing to record.
  using Episode = std::conditional_t<bounded, typename Inner::Episode, InnerAndLane>;

  static constexpr Properties properties = [] {
    Properties p = Inner::properties;
    p.name = "capacitor";
    p.source = "Dice, Kogan; Capacitor paper, §2 and §5";
    p.spinning = Semaphore::properties.spinning;  // outside the platoon; inside, as in the inner lock
    p.order = bounded ? Order::platoon : Order::long_term;
    p.bypass = bounded ? static_cast<int>(O.platoon) - 1 : 0;
    p.platoon = O.platoon;
    p.waiting_array |= Semaphore::properties.waiting_array;
    p.parkable &= Semaphore::properties.parkable;
    p.release_touches_lock |= O.late_depart;
    p.paper_branches = p.paper_misses = p.paper_invalidations = "-";
    return p;
  }();

  // Call it once, before the lock is used. `platoon` is at least 1.
  void set(std::uint32_t platoon, Chance skip)
    requires(O.at_run_time)
  {
    knobs_ = {platoon, skip};
    for (auto& gate : gates_) gate.semaphore.release(platoon);
  }
  const auto& knobs() const { return knobs_; }

  Episode acquire() {
    if constexpr (O.activate)
      if (const auto inner = inner_.try_acquire()) return episode(*inner, none);
    const auto lane = choose_lane();
    if (lane != none) gates_[lane].semaphore.acquire();
    Arrival arrival{*this, lane};
    return arrival.enter(inner_.acquire());
  }

  void release(Episode episode) {
    const auto [inner, lane] = split(episode);
    if constexpr (!O.late_depart) depart(lane);
    inner_.release(inner);
    if constexpr (O.late_depart) depart(lane);
  }

  // If the bound holds, a try takes a place in the platoon or fails: if tries skipped the platoon, a thread that only
  // tries could bypass a waiter for ever.
  std::optional<Episode> try_acquire()
    requires TryLock<Inner>
  {
    const bool arrives = knobs_.skip.times == 0 && !O.activate && O.lanes == 1;
    // If the lock's nodes circulate, only a thread in line may look at a node.
    if ((!Inner::properties.nodes_circulate && inner_.locked()) || (arrives && !gates_[0].semaphore.try_acquire()))
      return std::nullopt;
    Arrival arrival{*this, arrives ? 0 : none};
    if (const auto inner = inner_.try_acquire()) return arrival.enter(*inner);
    return std::nullopt;
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until)
    requires TimedLock<Inner>
  {
    if constexpr (O.activate)
      if (const auto inner = inner_.try_acquire()) return episode(*inner, none);
    const auto lane = choose_lane();
    if (lane != none && !gates_[lane].semaphore.acquire_until(until)) return std::nullopt;
    Arrival arrival{*this, lane};
    if (const auto inner = inner_.acquire_until(until)) return arrival.enter(*inner);
    return std::nullopt;
  }

  // Whether the lock is held, or a thread has arrived and not departed.
  bool locked() const {
    bool busy = inner_.locked();
    for (const auto& gate : gates_) busy |= gate.semaphore.value() + gate.departures.count() != knobs_.platoon;
    return busy;
  }

  template <class V>
  void fields(V&& visit) const {
    for (unsigned i = 0; i < O.lanes; ++i) O.lanes == 1 ? visit.part("", gates_[i]) : visit.part("lane", i, gates_[i]);
    visit.part("inner", inner_);
  }

 private:
  struct Gate {
    Semaphore semaphore;
    Departures<P> departures;
    template <class V>
    void fields(V&& visit) const {
      semaphore.fields(visit);
      departures.fields(visit);
    }
  };

  // Departs in its destructor unless the thread has entered, even if the inner acquire throws: a platoon with a member
  // that never departs would never end.
  struct Arrival {
    Capacitor& capacitor;
    const unsigned lane;
    bool entered = false;

    Episode enter(const typename Inner::Episode& inner) {
      entered = true;
      return episode(inner, lane);
    }
    ~Arrival() {
      if (!entered) capacitor.depart(lane);
    }
  };

  struct FixedKnobs {
    static constexpr std::uint32_t platoon = O.platoon;
    static constexpr Chance skip = O.skip;
  };
  struct RunTimeKnobs {
    std::uint32_t platoon;
    Chance skip;
  };

  unsigned choose_lane() const {
    if (P::chance(knobs_.skip)) return none;
    unsigned lane = 0;
    for (unsigned lanes = 1; lanes < O.lanes; lanes *= 2) lane = lane * 2 + P::chance(Chance{1, 2});
    return lane;
  }

  void depart(unsigned lane) {
    if (lane == none) return;
    auto& [semaphore, departures] = gates_[lane];
    if (departures.depart(knobs_.platoon)) semaphore.release(knobs_.platoon);
  }

  static Episode episode(typename Inner::Episode inner, [[maybe_unused]] unsigned lane) {
    if constexpr (bounded) return inner;
    else return {inner, lane};
  }
  static InnerAndLane split(Episode episode) {
    if constexpr (bounded) return {episode, 0};
    else return episode;
  }

  [[no_unique_address]] std::conditional_t<O.at_run_time, RunTimeKnobs, FixedKnobs> knobs_;
  Placed<P, O.layout, Inner> inner_;
  Placed<P, O.layout, Gate> gates_[O.lanes];
};

}  // namespace v0
}  // namespace fairlock
