// SPDX-License-Identifier: Apache-2.0
// The tallies of a process by object: sorted, summed, and ranked by waiting time. Nothing here allocates.
#pragma once

#include <cstdint>
#include <utility>

#include "tally.hpp"

namespace fairlock::stats {

inline constexpr std::uint32_t max_objects = 200;  // objects in a report

// The indices of the tallies in use.
inline constinit std::uint32_t tallies_in_use[capacity];

struct Range {
  std::uint32_t *begin, *end;
  std::uint32_t size() const { return static_cast<std::uint32_t>(end - begin); }
};

// A heap sort: qsort may allocate.
template <class F>
void sort(Range range, const F& less) {
  auto* const heap = range.begin;
  const auto sink = [&](std::uint32_t at, std::uint32_t size) {
    for (std::uint32_t child; (child = 2 * at + 1) < size; at = child) {
      if (child + 1 < size && less(heap[child], heap[child + 1])) ++child;
      if (!less(heap[at], heap[child])) return;
      std::swap(heap[at], heap[child]);
    }
  };
  for (auto at = range.size() / 2; at-- != 0;) sink(at, range.size());
  for (auto size = range.size(); size > 1;) {
    std::swap(heap[0], heap[--size]);
    sink(0, size);
  }
}

// Calls each(part) for every run of tallies with the same by(tally).
template <class By, class F>
void split(Range range, const By& by, const F& each) {
  for (auto* from = range.begin; from != range.end;) {
    auto* to = from;
    while (to != range.end && by(Table::at(*to)) == by(Table::at(*from))) ++to;
    each(Range{from, to});
    from = to;
  }
}

inline std::uintptr_t object_of(const Tally& tally) { return tally.object.load(relaxed); }
inline std::uintptr_t site_of(const Tally& tally) { return tally.site.load(relaxed); }
inline std::uint32_t thread_of(const Tally& tally) { return tally.thread.load(relaxed); }

struct Sums {
  std::uint64_t acquisitions = 0, contended = 0, abandoned = 0, woken = 0, waited = 0, longest = 0, parks = 0;

  Sums() = default;
  explicit Sums(Range range) {
    for (const auto* at = range.begin; at != range.end; ++at) {
      const Tally& tally = Table::at(*at);
      const auto count = tally.acquisitions.load(relaxed), slowest = tally.longest.load(relaxed);
      acquisitions += count;
      if (site_of(tally) != 0) contended += count;
      abandoned += tally.abandoned.load(relaxed);
      woken += tally.woken.load(relaxed);
      waited += tally.waited.load(relaxed);
      longest = longest < slowest ? slowest : longest;
      parks += tally.parks.load(relaxed);
    }
  }

  bool met_contention() const { return contended + abandoned != 0; }
};

struct Object {
  Range range;
  Sums sums;

  bool before(const Object& other) const {
    if (sums.waited != other.sums.waited) return sums.waited > other.sums.waited;
    if (sums.abandoned != other.sums.abandoned) return sums.abandoned > other.sums.abandoned;
    return sums.acquisitions > other.sums.acquisitions;
  }
};

// The objects that threads waited for longest, the longest wait first.
struct Ranking {
  Object objects[max_objects];
  std::uint32_t size, left_out;

  void add(Object object) {
    if (size == max_objects) ++left_out;
    else ++size;
    for (auto at = size; at-- != 0;) {
      if (at == size - 1 && left_out != 0 && !object.before(objects[at])) return;
      if (at == 0 || !object.before(objects[at - 1])) {
        objects[at] = object;
        return;
      }
      objects[at] = objects[at - 1];
    }
  }
};
inline constinit Ranking ranking{};

inline Range collect() {
  std::uint32_t size = 0;
  if (Table::threads() == 0) return {tallies_in_use, tallies_in_use};  // an unused table has no pages yet
  for (std::uint32_t index = 0; index != capacity; ++index)
    if (Table::at(index).object.load(std::memory_order_acquire) != 0) tallies_in_use[size++] = index;
  return {tallies_in_use, tallies_in_use + size};
}

}  // namespace fairlock::stats
