// SPDX-License-Identifier: Apache-2.0
// PlatformChance: random numbers and guesses. The checker explores every outcome of `chance` and `guess`.
#pragma once

#include <concepts>
#include <cstdint>

namespace fairlock {
inline namespace v0 {

// A probability, `times` in `of`, that can be a template argument.
struct Chance {
  std::uint32_t times = 0, of = 1;
  constexpr bool valid() const { return of != 0 && times <= of; }
  constexpr bool certain() const { return times == 0 || times == of; }
  constexpr std::uint64_t of_32_bits() const { return (std::uint64_t{times} << 32) / of; }
};

template <class P>
concept PlatformChance = requires(Chance probability, bool (*estimate)()) {
  // A random number. Deterministic where time is simulated.
  { P::random() } -> std::convertible_to<std::uint64_t>;
  // True with this probability.
  { P::chance(probability) } -> std::same_as<bool>;
  // The result of estimate(), which judges by timing and may be wrong.
  { P::guess(estimate) } -> std::same_as<bool>;
};

}  // namespace v0
}  // namespace fairlock
