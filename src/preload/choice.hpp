// SPDX-License-Identifier: Apache-2.0
// What an object of the product is built from: the lock that FAIRLOCK_PRELOAD_LOCK names, with waiters that sleep.
// The lab has a choice of its own (lab/preload/choice.hpp).
#pragma once

#include "preloadable.hpp"

namespace fairlock::preload {

using Chosen = SleepingPlatform;
using ChosenLock = Preloadable<Chosen, FAIRLOCK_PRELOAD_LOCK>::Lock;
using ChosenSemaphore = semaphore_beside<Chosen, ChosenLock>;

}  // namespace fairlock::preload
