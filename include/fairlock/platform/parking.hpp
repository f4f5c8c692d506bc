// SPDX-License-Identifier: Apache-2.0
// Parking: two ways to sleep on a 32-bit word, behind one interface.
//
//   park(word, value, deadline)   sleep while the word has this value. May wake for no reason. False: the deadline has
//                                 passed
//   unpark(word)                  wake every thread that sleeps on this address. Does not touch the word, which may be
//                                 gone
//
//   FutexParking      Linux
//   PortableParking   a mutex and a condition variable for each of a few buckets of addresses, for every other system
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

inline std::uint64_t steady_now() {
#if defined(__linux__)  // the clock behind std::chrono::steady_clock, without the C++ library
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
#else
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
#endif
}

#if defined(__linux__)
struct FutexParking {
  static constexpr const char* name = "futex";

  static bool park(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t deadline) {
    static_assert(sizeof(time_t) == sizeof(long), "a 32-bit system with 64-bit time needs another system call");
    timespec until{};
    if (deadline != never) {
      until.tv_sec = static_cast<time_t>(deadline / 1'000'000'000);
      until.tv_nsec = static_cast<long>(deadline % 1'000'000'000);
    }
    // The bitset form takes an absolute time of the monotonic clock.
    const long woken = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, deadline == never ? nullptr : &until,
                               nullptr, FUTEX_BITSET_MATCH_ANY);
    return woken == 0 || errno != ETIMEDOUT;
  }

  static void unpark(const void* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }
};
#endif

struct alignas(128) ParkingBucket {
  std::mutex mutex;
  std::condition_variable changed;
};
// Never destroyed, because threads may still sleep when the program ends. Not allocated, because the first call may
// come from a release.
struct ParkingBuckets {
  ParkingBucket buckets[64];
};
[[gnu::visibility("default")]] inline ParkingBucket* parking_buckets() {
  alignas(ParkingBuckets) static std::byte memory[sizeof(ParkingBuckets)];
  static ParkingBuckets* const all = new (memory) ParkingBuckets;
  return all->buckets;
}

struct PortableParking {
  static constexpr const char* name = "portable";

  static bool park(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t deadline) {
    auto& bucket = bucket_of(&word);
    std::unique_lock lock(bucket.mutex);
    // A thread that changes the word after this look then calls unpark, which needs the mutex.
    if (word.load(std::memory_order_acquire) != value) return true;
    if (deadline > INT64_MAX) {
      bucket.changed.wait(lock);
      return true;
    }
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(static_cast<std::int64_t>(deadline))};
    return bucket.changed.wait_until(lock, until) == std::cv_status::no_timeout;
  }

  static void unpark(const void* word) {
    auto& bucket = bucket_of(word);
    { const std::lock_guard lock(bucket.mutex); }
    bucket.changed.notify_all();
  }

 private:
  static ParkingBucket& bucket_of(const void* word) {
    const auto address = reinterpret_cast<std::uintptr_t>(word);
    return parking_buckets()[(address >> 3 ^ address >> 9 ^ address >> 15) % 64];
  }
};

#if defined(__linux__)
using SystemParking = FutexParking;
#else
using SystemParking = PortableParking;
#endif

}  // namespace v0
}  // namespace fairlock
