// All of fairlock for a C++ program: `fairlock::mutex<"twa">` is a Lockable, for std::scoped_lock and its kin.
#pragma once

#include <fairlock/catalogue.hpp>
#include <fairlock/hapax_seqlock.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/waiting/spin.hpp>
#include <fairlock/waiting/yield.hpp>

namespace fairlock {
inline namespace v0 {

// A lock of the catalogue by name, with a waiting policy; the episode is the caller's to keep (Guard, with).
template <FixedString Name, class Waiting = Yield>
using lock = lock_named<Native<Waiting>, Name>;

// The same as a C++ Lockable: the episode is kept in the lock body.
template <FixedString Name, class Waiting = Yield>
using mutex = Mutex<lock<Name, Waiting>>;

// A counting semaphore of the catalogue by name.
template <FixedString Name, class Waiting = Yield>
using semaphore = semaphore_named<Native<Waiting>, Name>;

}  // namespace v0
}  // namespace fairlock
