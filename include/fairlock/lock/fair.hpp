// SPDX-License-Identifier: Apache-2.0
// Fair lock: a barging lock with a bound. A thread that finds the lock free takes it, like an ordinary mutex. Threads
// that wait sleep in a FIFO line. While the lock is saturated, newcomers pass the first in line at most `quota` times
// and for about `patience`. While it is not, the lock stays out of the scheduler's way. In Python, this is Lock().
//
//   line_   one permit, the lock itself, and the threads that wait for it (line/fair.hpp)
//
// Strict FIFO costs a context switch for each admission when threads outnumber processors; here one switch pays for up
// to quota admissions.
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/line/fair.hpp>

namespace fairlock {
inline namespace v0 {

struct FairOptions {
  unsigned quota = FairLineOptions{}.quota;
  std::uint64_t patience = FairLineOptions{}.patience;  // nanoseconds
  bool adapts = true;                                   // false: the lock always counts as saturated
};

template <Platform P, FairOptions O = FairOptions{}>
class FairLock {
 public:
  using Episode = NoContext;

  static constexpr Properties properties = fair_properties("fair", O.quota, O.adapts);

  Episode acquire() {
    if (!line_.try_take()) [[unlikely]]
      line_.take_until(Forever{});
    return {};
  }

  std::optional<Episode> try_acquire() {
    if (!line_.try_take()) return std::nullopt;
    return Episode{};
  }

  template <Until U>
  std::optional<Episode> acquire_until(const U& until) {
    if (!line_.try_take() && !line_.take_until(until)) return std::nullopt;
    return Episode{};
  }

  void release(Episode) { line_.give(1); }

  bool locked() const { return line_.permits() <= 0; }

  template <class V>
  void fields(V&& visit) const {
    line_.fields(visit);
  }

 private:
  FairLine<P, FairLineOptions{.initial = 1, .quota = O.quota, .patience = O.patience, .adapts = O.adapts}> line_;
};

}  // namespace v0
}  // namespace fairlock
