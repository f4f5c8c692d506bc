// SPDX-License-Identifier: Apache-2.0
// Where a lock's fields lie: together in one line, or each on a sector of its own.
//
// A sector is two cache lines, because hardware prefetches neighbours in pairs. Fields that are used together are
// better together; a field that waiters watch is better alone.
#pragma once

#include <cstddef>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

enum class Layout { together, sequestered };

template <class T, std::size_t Alignment>
struct alignas(Alignment) Aligned : T {};

// T where the layout wants it.
template <Platform P, Layout L, class T>
using Placed = Aligned<T, L == Layout::sequestered ? (P::sector > alignof(T) ? P::sector : alignof(T)) : alignof(T)>;

}  // namespace v0
}  // namespace fairlock
