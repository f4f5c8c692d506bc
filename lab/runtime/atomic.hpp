// SPDX-License-Identifier: Apache-2.0
// Atomic: the `atomic` of a platform that posts each operation. `Host::current().perform(operation)` performs the
// operation and returns its result.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "runtime/operation.hpp"

namespace fairlock::runtime {

template <class T>
std::uint64_t to_word(T value) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uintptr_t>(value);
  else return static_cast<std::uint64_t>(value);
}

template <class T>
T from_word(std::uint64_t word) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(static_cast<std::uintptr_t>(word));
  else return static_cast<T>(word);
}

template <class T, class Host>
class Atomic {
 public:
  constexpr Atomic() = default;

  T load(std::memory_order o) const { return from_word<T>(perform({.kind = Kind::load, .order = o})); }
  void store(T v, std::memory_order o) { perform({.kind = Kind::store, .order = o, .operand = to_word(v)}); }
  void init(T v) { perform({.kind = Kind::init, .operand = to_word(v)}); }
  T exchange(T v, std::memory_order o) { return modify(Kind::exchange, v, o); }
  T fetch_add(T v, std::memory_order o) { return modify(Kind::fetch_add, v, o); }
  T fetch_or(T v, std::memory_order o) { return modify(Kind::fetch_or, v, o); }
  T fetch_and(T v, std::memory_order o) { return modify(Kind::fetch_and, v, o); }
  bool compare_exchange(T& expected, T desired, std::memory_order o) {
    const auto word = to_word(expected);
    const auto old = perform({.kind = Kind::cas, .order = o, .operand = to_word(desired), .expected = word});
    expected = from_word<T>(old);
    return old == word;
  }
  bool cas(T expected, T desired, std::memory_order o) { return compare_exchange(expected, desired, o); }

  std::uint64_t perform(Operation op) const {
    op.width = sizeof(T);
    op.address = reinterpret_cast<std::uintptr_t>(this);
    return Host::current().perform(op);
  }

 private:
  T modify(Kind kind, T v, std::memory_order o) {
    return from_word<T>(perform({.kind = kind, .order = o, .operand = to_word(v)}));
  }
  T value_;
};

}  // namespace fairlock::runtime
