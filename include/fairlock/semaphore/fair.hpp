// SPDX-License-Identifier: Apache-2.0
// Fair semaphore: a thread that finds a permit takes it. Threads that wait sleep in a FIFO line. While the semaphore is
// saturated, newcomers pass the first in line at most `quota` times and for about `patience`, whichever ends first. In
// Python, this is Semaphore().
//
//   line_   the permits, and the threads that wait for one (line/fair.hpp)
#pragma once

#include <fairlock/line/fair.hpp>
#include <fairlock/properties.hpp>

namespace fairlock {
inline namespace v0 {

struct FairSemaphoreOptions {
  std::uint64_t initial = 0;  // permits of a semaphore that is all zero
  unsigned quota = FairLineOptions{}.quota;
  std::uint64_t patience = FairLineOptions{}.patience;  // nanoseconds
  bool adapts = true;                                   // false: the semaphore always counts as saturated
};

template <Platform P, FairSemaphoreOptions O = FairSemaphoreOptions{}>
class FairSemaphore {
  using Line =
      FairLine<P, FairLineOptions{.initial = O.initial, .quota = O.quota, .patience = O.patience, .adapts = O.adapts}>;

 public:
  static constexpr Properties properties = fair_properties("fair-semaphore", O.quota, O.adapts);

  // The most permits that the semaphore can hold at once.
  static constexpr std::uint64_t max() { return Line::max(); }

  constexpr FairSemaphore() = default;
  explicit FairSemaphore(std::uint64_t permits) {
    if (permits > max()) P::stop(properties.name, "created with more permits than max()");
    line_.start_with(permits);
  }

  void acquire() {
    if (!line_.try_take()) [[unlikely]]
      line_.take_until(Forever{});
  }

  bool try_acquire() { return line_.try_take(); }

  template <Until U>
  bool acquire_until(const U& until) {
    return line_.try_take() || line_.take_until(until);
  }

  void release(std::uint64_t permits = 1) {
    if (permits != 1) [[unlikely]]
      if (permits > max() || line_.permits() > static_cast<std::int64_t>(max() - permits))
        P::stop(properties.name, "released past max()");
    line_.give(permits);
  }

  // The permits available now.
  std::int64_t value() const { return line_.permits(); }

  template <class V>
  void fields(V&& visit) const {
    line_.fields(visit);
  }

 private:
  Line line_;
};

}  // namespace v0
}  // namespace fairlock
