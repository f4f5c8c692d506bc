// SPDX-License-Identifier: Apache-2.0
// A histogram of times: four buckets for each doubling, from single nanoseconds to two hours.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "harness/json.hpp"

namespace bench {

class Histogram {
 public:
  void add(double nanoseconds) { ++counts_[bucket(nanoseconds <= 0 ? 0 : static_cast<std::uint64_t>(nanoseconds))]; }

  void add(const Histogram& other) {
    for (unsigned i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
  }

  // Write the buckets from the first that is not empty to the last.
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

  // Each of the first four nanoseconds has its own bucket. Above, the two bits after the leading one choose among four.
  static constexpr unsigned bucket(std::uint64_t ns) {
    if (ns < 4) return static_cast<unsigned>(ns);
    const auto bits = static_cast<unsigned>(std::bit_width(ns));
    const auto index = 4 * (bits - 2) + static_cast<unsigned>(ns >> (bits - 3) & 3);
    return index < buckets ? index : buckets - 1;
  }

  static constexpr std::uint64_t edge(unsigned bucket) {
    return bucket < 4 ? bucket : std::uint64_t{4 + bucket % 4} << (bucket / 4 - 1);
  }

  std::array<std::uint64_t, buckets> counts_{};
};

}  // namespace bench
