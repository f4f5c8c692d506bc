// SPDX-License-Identifier: Apache-2.0
// The pseudo-random generators that critical and non-critical sections advance.
#pragma once

#include <bit>
#include <cstdint>
#include <random>

namespace bench {

// Spread the bits of a small number, so that seeds that differ by one make generators that do not resemble each other.
// (splitmix64 of Steele, Lea and Flood, 2014.)
constexpr std::uint64_t spread(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// xoroshiro128+ of Blackman and Vigna, with the shifts of 2018: 24, 16, 37.
class Xoroshiro128Plus {
 public:
  explicit Xoroshiro128Plus(std::uint64_t seed) : s0_(spread(seed)), s1_(spread(seed)) {}

  std::uint64_t operator()() {
    const auto sum = s0_ + s1_;
    const auto mixed = s0_ ^ s1_;
    s0_ = std::rotl(s0_, 24) ^ mixed ^ (mixed << 16);
    s1_ = std::rotl(mixed, 37);
    return sum;
  }

  bool operator==(const Xoroshiro128Plus&) const = default;

 private:
  std::uint64_t s0_, s1_;
};

// The generator of the kernel's torture tests: a linear congruential step that occasionally mixes in another value.
// The kernel mixes in its clock; this class mixes in its own state, so the same seed always gives the same numbers.
class Torture {
 public:
  explicit Torture(std::uint64_t seed) : state_(spread(seed)) {}

  std::uint64_t operator()() {
    if (--until_refresh_ == 0) {
      std::uint64_t seed = state_;
      state_ += spread(seed);
      until_refresh_ = 10'000;
    }
    state_ = state_ * 39'916'801 + 479'001'701;
    return std::rotl(state_, 32);  // the low bits of a congruential generator are poor
  }

  bool operator==(const Torture&) const = default;

 private:
  std::uint64_t state_;
  unsigned until_refresh_ = 10'000;
};

// A step is one multiplication and one addition, and needs the result of the step before. It takes about a nanosecond
// on most machines, so the number of steps is about the work in nanoseconds. The constants are those of Knuth's MMIX.
class MultiplyAdd {
 public:
  explicit MultiplyAdd(std::uint64_t seed) : state_(spread(seed)) {}

  std::uint64_t operator()() { return state_ = state_ * multiplier + increment; }

  // Two steps are one step with other constants. So are four, and so on: the cost is logarithmic.
  void skip(std::uint64_t steps) {
    for (std::uint64_t m = multiplier, i = increment; steps != 0; steps >>= 1, i *= m + 1, m *= m)
      if (steps & 1) state_ = state_ * m + i;
  }

  bool operator==(const MultiplyAdd&) const = default;

 private:
  static constexpr std::uint64_t multiplier = 6364136223846793005, increment = 1442695040888963407;

  std::uint64_t state_;
};

// Any of these generators, chosen at run time. The switch takes the same branch at every call, so it costs nothing.
class Generator {
 public:
  enum class Kind { mt19937, xoroshiro128plus, torture, multiply_add, delay, none };
  static constexpr const char* names[] = {"mt19937", "xoroshiro128plus", "torture", "multiply-add", "delay", "none"};

  Generator(Kind kind, std::uint64_t seed)
      : kind_(kind),
        mt19937_(static_cast<std::mt19937::result_type>(spread(seed))),
        xoroshiro_(seed),
        torture_(seed),
        multiply_add_(seed) {}

  // `delay` is an empty loop of that many steps, and `none` does nothing.
  void advance(std::uint64_t steps) {
    switch (kind_) {
      case Kind::mt19937: return each(mt19937_, steps);
      case Kind::xoroshiro128plus: return each(xoroshiro_, steps);
      case Kind::torture: return each(torture_, steps);
      case Kind::multiply_add: return each(multiply_add_, steps);
      case Kind::delay:
        for (std::uint64_t i = 0; i < steps; ++i) asm volatile("");
        return;
      case Kind::none: return;
    }
  }

  // Take one step, and return a number below `bound`, which must fit in 32 bits.
  std::uint64_t below(std::uint64_t bound) { return draw() * bound >> 32; }

  // Advance without the cost of each step, if the generator allows that. A replay does so.
  void skip(std::uint64_t steps) {
    if (kind_ == Kind::mt19937) mt19937_.discard(steps);
    else if (kind_ == Kind::multiply_add) multiply_add_.skip(steps);
    else advance(steps);
  }

  bool operator==(const Generator&) const = default;

  static bool has_state(Kind kind) { return kind < Kind::delay; }

 private:
  template <class G>
  static void each(G& generator, std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) asm volatile("" : : "r"(generator()));
  }

  // Take one step, and return 32 random bits.
  std::uint64_t draw() {
    switch (kind_) {
      case Kind::mt19937: return mt19937_();
      case Kind::torture: return torture_() >> 32;
      case Kind::multiply_add: return multiply_add_() >> 32;
      default: return xoroshiro_() >> 32;
    }
  }

  Kind kind_;
  std::mt19937 mt19937_;
  Xoroshiro128Plus xoroshiro_;
  Torture torture_;
  MultiplyAdd multiply_add_;
};

}  // namespace bench
