// SPDX-License-Identifier: Apache-2.0
// Statistics of one lock: what its acquisitions went through. Counted<P, L> is the lock L with a Tally beside it;
// whoever has no room there keeps the Tally elsewhere, and acquires through it.
//
//   field           counts                                                  written by
//   acquisitions_   all of them                                             the owner
//   contended_      those that could not enter at once                      whoever waited, like all that follow
//   woken_          of these, those that slept until the lock came to them
//   waited_         nanoseconds that the contended ones waited in all
//   longest_        nanoseconds of the longest wait, of whatever outcome
//   parks_          how often a thread fell asleep
//   abandoned_      acquisitions that were given up
//
// The owner's word needs no RMW, and the others are written only by those who have waited. What is not counted costs
// nothing: a lock without a Tally, and the platform below it, are the same types as if this header did not exist. A
// release is that of L.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/episode.hpp>
#include <fairlock/platform/native.hpp>

namespace fairlock {
inline namespace v0 {

// A platform that knows how often the calling thread fell asleep.
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

// As of some moment while others go on: each number is right, but they may be of different moments.
struct Statistics {
  std::uint64_t acquisitions, contended, woken, parks, abandoned;
  std::uint64_t waited, longest;  // nanoseconds

  double contended_share() const {
    return acquisitions == 0 ? 0 : static_cast<double>(contended) / static_cast<double>(acquisitions);
  }
};

// What those who had to wait went through.
template <Platform P>
class WaitTally {
 public:
  // Waits by wait(), which tells whether it was admitted, and counts that.
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

template <Platform P>
class alignas(P::sector) Tally {  // not beside what waiters watch
 public:
  template <EpisodicLock L>
  typename L::Episode acquire(L& lock) {
    if constexpr (TryLock<L>) {
      if (const auto episode = try_acquire(lock)) return *episode;
    } else if (!lock.locked()) {  // more or less
      const auto episode = lock.acquire();
      count();
      return episode;
    }
    return *slowly<L>([&] { return std::optional(lock.acquire()); });
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
    return slowly<L>([&] { return lock.acquire_until(until); });
  }

  Statistics statistics() const { return waits_.statistics(acquisitions_.load(order::relaxed)); }

 private:
  template <EpisodicLock L, class F>
  [[gnu::noinline]] std::optional<typename L::Episode> slowly(const F& acquire) {
    std::optional<typename L::Episode> episode;
    if (waits_.count([&] { return (episode = acquire()).has_value(); })) count();
    return episode;
  }

  void count() { acquisitions_.store(acquisitions_.load(order::relaxed) + 1, order::relaxed); }

  typename P::template atomic<std::uint64_t> acquisitions_;
  WaitTally<P> waits_;
};

template <Platform P, EpisodicLock L>
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
