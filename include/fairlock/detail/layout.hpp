// SPDX-License-Identifier: Apache-2.0
// Layout: whether a lock's fields lie together in one cache line, or each on its own sector.
//
// A sector is two cache lines, because hardware prefetches neighbouring lines in pairs. Fields that are used together
// should lie together. A field that waiters watch should lie alone.
#pragma once

#include <cstddef>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

enum class Layout { together, sequestered };

template <class T, std::size_t Alignment>
struct alignas(Alignment) Aligned : T {};

// T, aligned as the layout demands.
template <Platform P, Layout L, class T>
using Placed = Aligned<T, L == Layout::sequestered ? (P::sector > alignof(T) ? P::sector : alignof(T)) : alignof(T)>;

}  // namespace v0
}  // namespace fairlock
