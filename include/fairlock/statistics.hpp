// SPDX-License-Identifier: Apache-2.0
// Statistics of one lock. Counted<P, L> is the lock L with a Tally beside it. A front end that has no room for the
// Tally beside the lock keeps it elsewhere, and acquires the lock through it.
//
//   field           counts                                                 written by
//   acquisitions_   every acquisition                                      the owner
//   contended_      acquisitions that could not enter at once              a thread that waited (as all fields below)
//   woken_          contended acquisitions by a thread that slept
//   waited_         nanoseconds that contended acquisitions waited in all
//   longest_        nanoseconds of the longest wait, successful or not
//   parks_          how often a thread fell asleep
//   abandoned_      acquisitions that were given up
//
// The owner's word needs no RMW, and only threads that have waited write the other words. A lock without a Tally costs
// nothing: the lock and its platform are the same types as if this header did not exist. Counted does not change the
// release of L.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/episode.hpp>
#include <fairlock/platform/native.hpp>

namespace fairlock {
inline namespace v0 {

// A platform that counts how often the calling thread has fallen asleep.
template <class Base>
struct CountsParks : Base {
  static std::uint64_t parks() { return Base::template local<Parks>().count; }

  template <class A, Until U>
  static bool park(const A& word, std::uint64_t value, const U& until) {
    ++Base::template local<Parks>().count;
    return Base::park(word, value, until);
  }

 private:
  struct Parks {
    std::uint64_t count;
  };
};

template <class W = SpinThenPark, DomainOptions O = DomainOptions{}>
struct CountingNative : SleepingIf<W, CountsParks<NativeWaiting<W, O>>> {};

// Each number is correct, but other threads go on meanwhile, so two numbers may be from different moments.
struct Statistics {
  std::uint64_t acquisitions, contended, woken, parks, abandoned;
  std::uint64_t waited, longest;  // nanoseconds

  double contended_share() const {
    return acquisitions == 0 ? 0 : static_cast<double>(contended) / static_cast<double>(acquisitions);
  }
};

template <class P>
concept ParkCountingPlatform = Platform<P> && requires {
  // How often the calling thread has fallen asleep.
  { P::parks() } -> std::same_as<std::uint64_t>;
};

// The part of a Tally that threads write when they have waited.
template <ParkCountingPlatform P>
class WaitTally {
 public:
  // Call wait(), which returns whether the thread was admitted, and count it.
  template <class F>
  bool count(const F& wait) {
    const auto began = P::now(), parks_before = P::parks();
    const bool admitted = wait();
    const auto time = P::now() - began, parks = P::parks() - parks_before;
    if (parks != 0) parks_.fetch_add(parks, order::relaxed);
    auto longest = longest_.load(order::relaxed);
    while (longest < time && !longest_.compare_exchange(longest, time, order::relaxed)) {}
    if (!admitted) {
      abandoned_.fetch_add(1, order::relaxed);
      return false;
    }
    contended_.fetch_add(1, order::relaxed);
    if (parks != 0) woken_.fetch_add(1, order::relaxed);
    waited_.fetch_add(time, order::relaxed);
    return true;
  }

  Statistics statistics(std::uint64_t acquisitions) const {
    const auto look = [](const Word& word) { return word.load(order::relaxed); };
    return {acquisitions,     look(contended_), look(woken_),  look(parks_),
            look(abandoned_), look(waited_),    look(longest_)};
  }

 private:
  using Word = typename P::template atomic<std::uint64_t>;

  Word contended_, woken_, waited_, longest_, parks_, abandoned_;
};

template <ParkCountingPlatform P>
class alignas(P::sector) Tally {  // on its own sector, away from words that waiters watch
 public:
  template <EpisodicLock L>
  typename L::Episode acquire(L& lock) {
    if constexpr (TryLock<L>) {
      if (const auto episode = try_acquire(lock)) return *episode;
    } else if (!lock.locked()) {  // a good guess: another thread may come in between
      const auto episode = lock.acquire();
      count();
      return episode;
    }
    return *acquire_slowly<L>([&] { return std::optional(lock.acquire()); });
  }

  template <TryLock L>
  std::optional<typename L::Episode> try_acquire(L& lock) {
    const auto episode = lock.try_acquire();
    if (episode) count();
    return episode;
  }

  template <TimedLock L, Until U>
  std::optional<typename L::Episode> acquire_until(L& lock, const U& until) {
    if constexpr (TryLock<L>)
      if (const auto episode = try_acquire(lock)) return episode;
    return acquire_slowly<L>([&] { return lock.acquire_until(until); });
  }

  Statistics statistics() const { return waits_.statistics(acquisitions_.load(order::relaxed)); }

 private:
  template <EpisodicLock L, class F>
  [[gnu::noinline]] std::optional<typename L::Episode> acquire_slowly(const F& acquire) {
    std::optional<typename L::Episode> episode;
    if (waits_.count([&] { return (episode = acquire()).has_value(); })) count();
    return episode;
  }

  void count() { acquisitions_.store(acquisitions_.load(order::relaxed) + 1, order::relaxed); }

  typename P::template atomic<std::uint64_t> acquisitions_;
  WaitTally<P> waits_;
};

template <ParkCountingPlatform P, EpisodicLock L>
class Counted {
 public:
  using Episode = typename L::Episode;
  using Timed = Counted<P, timed_form<L>>;
  static constexpr Properties properties = L::properties;

  Episode acquire() { return tally_.acquire(lock_); }
  std::optional<Episode> try_acquire()
    requires TryLock<L>
  {
    return tally_.try_acquire(lock_);
  }
  template <Until U>
  std::optional<Episode> acquire_until(const U& until)
    requires TimedLock<L>
  {
    return tally_.acquire_until(lock_, until);
  }
  void release(Episode episode) { lock_.release(episode); }
  bool locked() const { return lock_.locked(); }

  Statistics statistics() const { return tally_.statistics(); }

 private:
  L lock_;
  Tally<P> tally_;
};

}  // namespace v0
}  // namespace fairlock
