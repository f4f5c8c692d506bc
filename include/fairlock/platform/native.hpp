// SPDX-License-Identifier: Apache-2.0
// The native platform: std::atomic, thread_local, and a waiting policy. Each part derives from the one above it.
//
//   NativeMemory    platform/native/memory.hpp
//   NativeDomain    platform/native/domain.hpp
//   NativeThreads   platform/native/threads.hpp
//   NativeWaiting   platform/native/waiting.hpp
//   Sleeping        platform/sleeping.hpp, for a policy that sleeps
#pragma once

#include <fairlock/platform/native/waiting.hpp>
#include <fairlock/platform/sleeping.hpp>
#include <fairlock/waiting/park.hpp>

namespace fairlock {
inline namespace v0 {

template <class W = SpinThenPark, DomainOptions O = DomainOptions{}>
struct Native : SleepingIf<W, NativeWaiting<W, O>> {};

}  // namespace v0
}  // namespace fairlock
