// SPDX-License-Identifier: Apache-2.0
// The median, and two measures of fairness.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The smallest count divided by the largest: 1 if all threads did the same amount.
template <class Counts>
double slowest_to_fastest(const Counts& counts) {
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  return *most == 0 ? 0 : static_cast<double>(*least) / static_cast<double>(*most);
}

// Jain's index: 1 if all threads did the same amount, 1/n if one of n threads did everything.
template <class Counts>
double jain(const Counts& counts) {
  double sum = 0, squares = 0;
  for (const auto count : counts) {
    sum += static_cast<double>(count);
    squares += static_cast<double>(count) * static_cast<double>(count);
  }
  return squares == 0 ? 0 : sum * sum / (squares * static_cast<double>(counts.size()));
}

}  // namespace bench
