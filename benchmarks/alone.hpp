// What an acquire and its release cost when nobody else wants the lock.
#pragma once

#include "measured.hpp"

namespace bench {

// Nanoseconds for a pair: the median of short batches. A batch in which the thread lost its processor does not count.
inline double alone(Measured& subject, Seconds time) {
  constexpr unsigned pairs = 1000;
  std::vector<double> batches;
  const auto end = Clock::now() + time;
  for (auto from = Clock::now(); from < end || batches.empty();) {
    subject.pairs(pairs);
    const auto now = Clock::now();
    batches.push_back(Seconds(now - from).count() / pairs * 1e9);
    from = now;
  }
  return median(std::move(batches));
}

}  // namespace bench
