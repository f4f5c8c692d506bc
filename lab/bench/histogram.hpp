// SPDX-License-Identifier: Apache-2.0
// A histogram of times: four buckets to every doubling, from single nanoseconds to minutes.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "json.hpp"

namespace bench {

class Histogram {
 public:
  void add(double nanoseconds) { ++counts_[bucket(nanoseconds <= 0 ? 0 : static_cast<std::uint64_t>(nanoseconds))]; }

  void add(const Histogram& other) {
    for (unsigned i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
  }

  // From the first bucket that holds something to the last.
  void write(Json& json, const char* key) const {
    unsigned first = 0, end = buckets;
    while (first < end && counts_[first] == 0) ++first;
    while (end > first && counts_[end - 1] == 0) --end;
    json.object(key, [&] {
      json.list("edges_ns", [&] {
        for (unsigned i = first; i <= end; ++i) json.number(nullptr, edge(i));
      });
      json.list("counts", [&] {
        for (unsigned i = first; i < end; ++i) json.number(nullptr, counts_[i]);
      });
    });
  }

 private:
  static constexpr unsigned buckets = 4 * 42;

  // Below four nanoseconds each has its own bucket; then the two bits behind the first one tell the four apart.
  static constexpr unsigned bucket(std::uint64_t ns) {
    if (ns < 4) return static_cast<unsigned>(ns);
    const auto bits = static_cast<unsigned>(std::bit_width(ns));
    const auto found = 4 * (bits - 2) + static_cast<unsigned>(ns >> (bits - 3) & 3);
    return found < buckets ? found : buckets - 1;
  }

  static constexpr std::uint64_t edge(unsigned bucket) {
    return bucket < 4 ? bucket : std::uint64_t{4 + bucket % 4} << (bucket / 4 - 1);
  }

  std::array<std::uint64_t, buckets> counts_{};
};

}  // namespace bench
