// SPDX-License-Identifier: Apache-2.0
// NativeMemory: std::atomic without two optimisations of the compiler, and the sizes of the domain's arrays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fairlock/platform/domain.hpp>

// ThreadSanitizer does not understand fences, but it does understand an RMW on one word.
#if defined(__SANITIZE_THREAD__)
#define FAIRLOCK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIRLOCK_TSAN 1
#endif
#endif

namespace fairlock {
inline namespace v0 {

template <DomainOptions O>
struct NativeMemory {
  static constexpr std::size_t sector = 128;
  static constexpr std::size_t page = 4096;
  static constexpr std::uint32_t max_slots = O.slots;
  static constexpr unsigned max_lanes = 64;
  static constexpr unsigned max_threads = O.threads;
  static constexpr unsigned max_leavers = O.leavers;
  static_assert(O.leavers != 0, "leavers: at least one");
  static_assert(O.slots != 0 && (O.slots & (O.slots - 1)) == 0, "slots: a power of two");
  static_assert(O.threads != 0, "threads: at least one number");
  static_assert(O.lanes != 0 && (O.lanes & (O.lanes - 1)) == 0 && O.lanes <= max_lanes,
                "lanes: a power of two, at most 64");

  template <class T>
  class atomic {
   public:
    constexpr atomic() = default;
    constexpr explicit atomic(T value) : value_(value) {}

    T load(std::memory_order o) const { return value_.load(o); }
    void store(T v, std::memory_order o) { value_.store(v, o); }
    void init(T v) { value_.store(v, order::relaxed); }

    // Clang turns an exchange whose result is unused into a store, and an addition of 0 into a fence and a load. A lock
    // that performs an RMW needs an RMW, and the fence is slower. So the compiler sees neither that the result is
    // unused nor what is added.
    T exchange(T v, std::memory_order o) {
      T was = value_.exchange(v, o);
      asm volatile("" : : "r"(was));
      return was;
    }
    T fetch_add(T v, std::memory_order o) {
      asm volatile("" : "+r"(v));
      return value_.fetch_add(v, o);
    }
    T fetch_or(T v, std::memory_order o) { return value_.fetch_or(v, o); }
    T fetch_and(T v, std::memory_order o) { return value_.fetch_and(v, o); }

    bool compare_exchange(T& expected, T desired, std::memory_order o) {
      return value_.compare_exchange_strong(expected, desired, o, failure(o));
    }
    bool cas(T expected, T desired, std::memory_order o) { return compare_exchange(expected, desired, o); }

    const std::atomic<T>& word() const { return value_; }

   private:
    static constexpr std::memory_order failure(std::memory_order o) {
      return o == order::release || o == order::relaxed ? order::relaxed : order::acquire;
    }
    std::atomic<T> value_;
    static_assert(std::atomic<T>::is_always_lock_free);
  };

  template <class T>
  using plain = T;

  static void fence(std::memory_order o) {
#ifdef FAIRLOCK_TSAN
    static std::atomic<int> fence_word{0};
    fence_word.fetch_add(0, std::memory_order_seq_cst);
    (void)o;
#else
    std::atomic_thread_fence(o);
#endif
  }

  static void fence_after_rmw() {
#if (defined(__x86_64__) || defined(__i386__)) && !defined(FAIRLOCK_TSAN)
    std::atomic_signal_fence(order::seq_cst);  // the RMW stops the machine from reordering, and this stops the compiler
#else
    fence(order::seq_cst);
#endif
  }
};

}  // namespace v0
}  // namespace fairlock
