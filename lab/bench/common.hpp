// SPDX-License-Identifier: Apache-2.0
// What every family uses: the clock, ways to end, measures of fairness, and ways to keep the compiler from knowing too
// much.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline constexpr unsigned most_threads = 4096;
inline constexpr std::size_t sector = 128;

// Where in its page something lies. Of two addresses that agree in their last twelve bits a processor takes one for the
// other at first, and a load that follows a store to such a one waits: the same lock may take half as long again, for
// as long as the process runs. So what the loops touch all the time lies at places of its own.
namespace place {
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t tally = 1024;  // below that: the lock
inline constexpr std::size_t over = tally + sector;
inline constexpr std::size_t witness = over + sector;
inline constexpr std::size_t handover = witness + sector;
inline constexpr std::size_t member = handover + sector;
inline constexpr std::size_t generator = 2048;
}  // namespace place

template <class T, std::size_t Where>
struct alignas(place::page) Placed {
  template <class... A>
  explicit Placed(A&&... arguments) : value(std::forward<A>(arguments)...) {}

  std::byte before[Where];
  T value;
};

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Bad input: one line, and the status that says so.
[[noreturn]] inline void refuse(const std::string& why) {
  std::fprintf(stderr, "fairlock_bench: %s\n", why.c_str());
  std::exit(2);
}

// A lock that does not do its duty. Threads may be stuck in it, so nothing is tidied up.
[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "fairlock_bench: %s\n", why.c_str());
  std::_Exit(1);
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The least over the greatest of what the threads have done: 1 is perfectly fair.
template <class Counts>
double slowest_to_fastest(const Counts& done) {
  const auto [least, most] = std::minmax_element(done.begin(), done.end());
  return *most == 0 ? 0 : static_cast<double>(*least) / static_cast<double>(*most);
}

// Jain's index: 1 when all did the same, 1/n when one of n did everything.
template <class Counts>
double jain(const Counts& done) {
  double sum = 0, squares = 0;
  for (const auto one : done) {
    sum += static_cast<double>(one);
    squares += static_cast<double>(one) * static_cast<double>(one);
  }
  return squares == 0 ? 0 : sum * sum / (squares * static_cast<double>(done.size()));
}

// After this the compiler knows nothing of what any object holds, so it moves no access across.
inline void barrier() { asm volatile("" ::: "memory"); }

// The same object, but the compiler no longer knows which: nothing of its address is folded into the loop.
template <class T>
T& opaque(T& object) {
  T* pointer = &object;
  asm volatile("" : "+r"(pointer) : : "memory");
  return *pointer;
}

}  // namespace bench
