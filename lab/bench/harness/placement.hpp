// SPDX-License-Identifier: Apache-2.0
// Where in its page an object lies.
//
// A processor first compares only the last twelve bits of two addresses. If they agree, a load that follows a store
// waits, although it reads another word: the same lock may then take 50 % longer, for as long as the process
// runs. So each object that the measuring loops access all the time has an offset of its own.
#pragma once

#include <cstddef>
#include <utility>

namespace bench {

inline constexpr std::size_t sector = 128;  // two cache lines, which some processors fetch together

namespace place {
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t tally = 1024;  // the lock lies at smaller offsets
inline constexpr std::size_t over = tally + sector;
inline constexpr std::size_t witness = over + sector;
inline constexpr std::size_t handover = witness + sector;
inline constexpr std::size_t contender = handover + sector;
inline constexpr std::size_t generator = 2048;
}  // namespace place

template <class T, std::size_t Offset>
struct alignas(place::page) Placed {
  template <class... A>
  explicit Placed(A&&... arguments) : value(std::forward<A>(arguments)...) {}

  std::byte padding[Offset];
  T value;
};

}  // namespace bench
