// SPDX-License-Identifier: Apache-2.0
// Hashes of states: two states with the same hash count as equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fairlock::runtime {

constexpr std::uint64_t scramble(std::uint64_t a, std::uint64_t b = 0) {
  std::uint64_t x = (a + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL ^ b;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 32);
}

__extension__ using Wide = unsigned __int128;

// Combines both halves of the product, so one multiplication mixes sixteen bytes.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// `size` is a multiple of eight.
inline std::uint64_t hash_bytes(std::uint64_t seed, const std::byte* bytes, std::size_t size) {
  std::uint64_t left = seed ^ 0x9e3779b97f4a7c15ULL, right = seed + 0xe7037ed1a0b428dbULL, word[4];
  std::size_t i = 0;
  for (; i + 32 <= size; i += 32) {
    std::memcpy(word, bytes + i, 32);
    left = fold(word[0] ^ 0xa0761d6478bd642fULL, word[1] ^ left);
    right = fold(word[2] ^ 0x8ebc6af09c88c6e3ULL, word[3] ^ right);
  }
  for (; i < size; i += 8) {
    std::memcpy(word, bytes + i, 8);
    left = fold(word[0] ^ 0x589965cc75374cc3ULL, left ^ 0x1d8e4e27c47d124fULL);
  }
  return scramble(left, right);
}

}  // namespace fairlock::runtime
