// SPDX-License-Identifier: Apache-2.0
// The lock and the platform of an object of the product. FAIRLOCK_PRELOAD_LOCK names the lock, and its waiters sleep.
// The lab has its own choice.hpp (lab/preload).
#pragma once

#include "preloadable.hpp"

namespace fairlock::preload {

using ChosenPlatform = SleepingPlatform;
using ChosenLock = Preloadable<ChosenPlatform, FAIRLOCK_PRELOAD_LOCK>::Lock;
using ChosenSemaphore = semaphore_beside<ChosenPlatform, ChosenLock>;

}  // namespace fairlock::preload
