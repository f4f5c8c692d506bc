// SPDX-License-Identifier: Apache-2.0
// The lock of the catalogue that an object preloads, and the semaphore that goes with it.
#pragma once

#include <fairlock/catalogue.hpp>

#include "platform.hpp"

namespace fairlock::preload {

template <Platform P, FixedString Name>
struct Preloadable {
  using Entry = typename decltype(detail::Find<Name, Locks<P>>::find())::type;
  static_assert(Entry::preloadable, "this lock cannot be preloaded");
  using Lock = timed_form<typename Entry::Lock>;
};

// A FIFO semaphore beside a FIFO lock, and the fair semaphore beside every other lock.
template <Platform P, class L>
using semaphore_beside = std::conditional_t<L::properties.order == Order::fifo, semaphore_named<P, "twa-semaphore">,
                                            semaphore_named<P, "fair-semaphore">>;

}  // namespace fairlock::preload
