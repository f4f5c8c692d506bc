// SPDX-License-Identifier: Apache-2.0
// The platform of the preloaded locks: the native platform, with three differences. errno keeps its value, a sleep may
// be a cancellation point, and no memory comes from malloc, whose own locks may be preloaded.
#pragma once

#include <fairlock/platform/fork.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/statistics.hpp>

#include "policy.hpp"
#include "wait.hpp"

namespace fairlock::preload {

struct QuietFutex {
  static constexpr const char* name = "futex";
  static bool park(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t deadline) {
    return Wait({}).sleep(word, value, deadline);
  }
  static void unpark(const void* word) {
    const int saved_errno = errno;  // the kernel sets it if the memory of the word is already unmapped
    FutexParking::unpark(word);
    errno = saved_errno;
  }
};

template <class Base>
struct PosixWaiting : Base {
  // No preloadable lock uses small thread numbers, which a thread would have to give back.
  static unsigned self() { return Base::max_threads; }

  // What else the child of a fork must repair. Platforms whose locks allocate hide this (lab/preload/pool.hpp).
  static void after_fork() {}

  // A number of the calling thread that fits the 32 bits that glibc's mutex has for its owner. Never 0. Two threads
  // have the same number only if 2^32 - 2 other threads took a number in between, which matters only while both are
  // alive.
  static std::uint32_t owner_number() {
    auto& number = Base::template local<OwnerNumber>().number;
    if (number == 0) number = static_cast<std::uint32_t>((Base::serial() - 1) % 0xFFFF'FFFF) + 1;
    return number;
  }

  template <class A, Until U>
  static bool park(const A& word, std::uint64_t value, const U& until) {
    // P::within() has limited this wait.
    if constexpr (requires { until.until; }) return park_until(word, value, until.until, until.deadline());
    else return park_until(word, value, until, never);
  }

 private:
  struct OwnerNumber {
    std::uint32_t number;
  };

  template <class A, Until U>
  static bool park_until(const A& word, std::uint64_t value, const U& until, std::uint64_t sooner) {
    if constexpr (std::same_as<U, Wait>)
      return !until.interrupted() &&
             until.sleep(Base::low_half(word.word()), static_cast<std::uint32_t>(value), sooner) &&
             !until.interrupted();
    else return Base::park(word, value, Deadline{sooner < until.deadline() ? sooner : until.deadline()});
  }
};

using QuietPark = BasicPark<QuietFutex>;
using QuietSpinThenPark = BasicSpinThenPark<QuietFutex>;
using SleepingPolicies = PolicyChoice<QuietSpinThenPark, QuietPark>;

// The policies that sleep differ in how long a waiter looks before it sleeps. Under `park` it looks once.
template <class Base>
struct LooksBySleepingPolicy : Base {
  template <class A, class C>
  static auto await_briefly(const A& where, const C& condition, unsigned looks, std::memory_order o = order::acquire) {
    return Base::await_briefly(where, condition, SleepingPolicies::is<QuietPark>() ? 0 : looks, o);
  }

  template <class C, Until U>
  static bool satisfied_soon(const void* lock, const C& satisfied, const U& until) {
    return !SleepingPolicies::is<QuietPark>() && Base::satisfied_soon(lock, satisfied, until);
  }
};

inline constexpr DomainOptions options{.threads = 1};  // fewer pages to look at after a fork

using SleepingBase = LooksBySleepingPolicy<PosixWaiting<NativeWaiting<QuietSpinThenPark, options>>>;

struct SleepingPlatform : Sleeping<CountsParks<SleepingBase>> {
  using WaitingPolicies = SleepingPolicies;
};

}  // namespace fairlock::preload
