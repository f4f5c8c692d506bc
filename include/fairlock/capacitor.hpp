// SPDX-License-Identifier: Apache-2.0
// Capacitor: makes any lock fair by admitting threads to it in platoons. (Dice, Kogan; Capacitor paper, Listings 1 and
// 2: with a ticket semaphore the simplistic form, with a TWA semaphore the scalable one.)
//
//   field             holds                                            written by
//   inner_            the lock that is wrapped                         its own algorithm
//   gate.semaphore    `platoon` permits at first                       arrivals (take one), the last of a platoon (all back)
//   gate.departures   how many of this platoon have departed           each departure; the last of the platoon (0)
//
//   nobody here: permits + departed == platoon       closed: no permits, and departed < platoon
//
// Permits come back only when the whole platoon has departed, and the semaphore is FIFO: whoever arrives `platoon`
// places after me enters after me, whatever the inner lock does. So at most platoon - 1 later arrivals enter before me
// in all, and no thread twice while the places of the platoon are held by different threads.
//
// A member departs when it *has got* the inner lock, just before it releases that: the bound is the same, and release
// touches nothing of the lock after the inner release. The listings depart afterwards (`late_depart`), when the next
// owner may have destroyed the lock already.
//
// Three ways to save the price of arriving give the bound up, and are fair in the long run only: `skip` passes the
// capacitor by with some probability, `activate` while the inner lock can be had at once, `lanes` spreads arrivals at
// random over several capacitors. (Over the lanes of one, permits would be lost where nobody comes. Lanes that keep the
// bound are a semaphore: semaphore/lanes.hpp.)
#pragma once

#include <cstdint>
#include <type_traits>

#include <fairlock/detail/layout.hpp>
#include <fairlock/episode.hpp>

namespace fairlock {
inline namespace v0 {

// How many of the platoon have departed. An RMW, because who abandons the inner lock, or fails to get it, departs
// without holding it. Relaxed, because the permits carry the order: the last of the platoon clears the tally before it
// opens the gate for the next.
template <Platform P>
class Departures {
 public:
  // True for the last of the platoon: the permits of all of them are due.
  bool depart(std::uint64_t platoon) {
    if (departed_.fetch_add(1, order::relaxed) + 1 != platoon) return false;
    departed_.store(0, order::relaxed);  // everybody has departed and nobody can arrive: no race
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
  Chance skip{};             // the probability that an arrival passes the capacitor by
  bool at_run_time = false;  // these two are not known before that: set() says
  bool activate = false;     // arrive only when the inner lock cannot be had at once
  unsigned lanes = 1;        // capacitors before the one lock, chosen at random; a power of two
  bool late_depart = false;  // as in the listings: after the inner release
  Layout layout = Layout::sequestered;
};

template <Platform P, class Semaphore, EpisodicLock Inner, CapacitorOptions O = CapacitorOptions{}>
class Capacitor {
  static_assert(O.platoon >= 1, "platoon: at least one thread");
  static_assert(O.skip.valid(), "skip: a probability, from 0 to 1");
  static_assert(O.lanes != 0 && (O.lanes & (O.lanes - 1)) == 0, "lanes: a power of two");
  static_assert(!O.activate || TryLock<Inner>, "activate: only over a lock that can be tried");
  static_assert(Semaphore::initial == (O.at_run_time ? 0 : O.platoon),
                "the semaphore begins with a permit for each of the platoon");

  static constexpr bool bounded = !O.at_run_time && O.skip.times == 0 && !O.activate && O.lanes == 1;
  static constexpr unsigned none = O.lanes;  // the lane of an episode that did not arrive

  struct Arrived {
    [[no_unique_address]] typename Inner::Episode inner;
    std::uint32_t lane;
  };

 public:
  using Timed = Capacitor<P, Semaphore, timed_form<Inner>, O>;

  // Where every episode arrives, and at the same gate, there is nothing to record.
  using Episode = std::conditional_t<bounded, typename Inner::Episode, Arrived>;

  static constexpr Properties properties = [] {
    Properties p = Inner::properties;
    p.name = "capacitor";
    p.source = "Dice, Kogan; Capacitor paper, §2 and §5";
    p.spinning = Semaphore::properties.spinning;  // outside the platoon; within it, as the inner lock's
    p.order = bounded ? Order::platoon : Order::long_term;
    p.bypass = bounded ? static_cast<int>(O.platoon) - 1 : 0;
    p.platoon = O.platoon;
    p.waiting_array |= Semaphore::properties.waiting_array;
    p.parkable &= Semaphore::properties.parkable;
    p.release_touches_lock |= O.late_depart;
    p.paper_branches = p.paper_misses = p.paper_invalidations = "-";
    return p;
  }();

  // Once, before the lock is used: at least one thread, and a probability.
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
    const auto lane = choose();
    if (lane != none) gates_[lane].semaphore.acquire();
    Arrival arrival{*this, lane};
    return arrival.enter(inner_.acquire());
  }

  void release(Episode mine) {
    const auto [inner, lane] = arrived(mine);
    if constexpr (!O.late_depart) depart(lane);
    inner_.release(inner);
    if constexpr (O.late_depart) depart(lane);
  }

  // Where the bound holds, a try takes a place in the platoon or fails: else a thread that only tries could pass a
  // waiter by for ever.
  std::optional<Episode> try_acquire()
    requires TryLock<Inner>
  {
    const bool arrives = knobs_.skip.times == 0 && !O.activate && O.lanes == 1;
    // Of a lock whose nodes circulate only those in line may look at a node.
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
    const auto lane = choose();
    if (lane != none && !gates_[lane].semaphore.acquire_until(until)) return std::nullopt;
    Arrival arrival{*this, lane};
    if (const auto inner = inner_.acquire_until(until)) return arrival.enter(*inner);
    return std::nullopt;
  }

  // Held, or somebody has arrived and not departed.
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

  // Departs in its destructor unless it has entered, even if the inner acquire throws: a platoon with
  // a member that never departs would never close.
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

  struct Fixed {
    static constexpr std::uint32_t platoon = O.platoon;
    static constexpr Chance skip = O.skip;
  };
  struct Given {
    std::uint32_t platoon;
    Chance skip;
  };

  unsigned choose() const {
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
  static Arrived arrived(Episode mine) {
    if constexpr (bounded) return {mine, 0};
    else return mine;
  }

  [[no_unique_address]] std::conditional_t<O.at_run_time, Given, Fixed> knobs_;
  Placed<P, O.layout, Inner> inner_;
  Placed<P, O.layout, Gate> gates_[O.lanes];
};

}  // namespace v0
}  // namespace fairlock
