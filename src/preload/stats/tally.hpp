// SPDX-License-Identifier: Apache-2.0
// Counts of acquisitions and waits of a program's mutexes and semaphores, under any implementation.
//
// A tally belongs to one object, one thread and one call site:
//
//   field          holds                                                                   written by
//   thread         the thread's number; 0: the tally is free                               the thread, once
//   object         the address of the mutex, or of the semaphore plus 1                    the same
//   site           the call site of waits; 0: acquisitions that did not wait               the same
//   acquisitions   those that succeeded; if there is a site, after a wait                  the thread (and below)
//   abandoned      acquisitions that were abandoned
//   woken          acquisitions that slept until the lock was handed over
//   waited         nanoseconds that the acquisitions waited in all
//   longest        nanoseconds of the longest wait, abandoned or not
//   parks          how often the thread fell asleep
//
// The words mean the same as in <fairlock/statistics.hpp>. Here every word has one writer, so only the claim of a tally
// is an RMW. Tallies outlive their thread and their object: another object at the same address continues them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fairlock/detail/hash.hpp>

namespace fairlock::stats {

using Word = std::atomic<std::uint64_t>;

struct alignas(64) Tally {
  std::atomic<std::uint32_t> thread, abandoned;
  std::atomic<std::uintptr_t> object, site;
  Word acquisitions, woken, waited, longest, parks;
};
static_assert(sizeof(Tally) == 64);

enum class Kind { mutex, semaphore };

constexpr auto relaxed = std::memory_order_relaxed;

template <class T>
void add(std::atomic<T>& word, T more) {
  word.store(word.load(relaxed) + more, relaxed);
}

constexpr std::uint32_t capacity = 1u << 16;

// All zero. With constructors for this many tallies, the compiler might run them when the program starts.
union alignas(4096) Memory {
  constexpr Memory() : none{} {}
  char none;
  Tally tallies[capacity];
};

// The table is zero memory, so it works before any constructor has run, and costs only the pages that are used.
class Table {
 public:
  // The calling thread's tally, or nullptr if the table is full. The acquisition then counts as uncounted.
  static Tally* find(const void* object, Kind kind, const void* site = nullptr) {
    if (number_ == 0) [[unlikely]]
      number_ = threads_.fetch_add(1, relaxed) + 1;
    const auto key = reinterpret_cast<std::uintptr_t>(object) + (kind == Kind::semaphore);
    const auto where = reinterpret_cast<std::uintptr_t>(site);
    auto index = mix(key + where * 31 + (std::uint64_t{number_} << 48));
    for (auto tries = probes; tries != 0; --tries, ++index) {
      Tally& tally = at(index % capacity);
      auto thread = tally.thread.load(relaxed);
      if (thread == number_) {
        if (tally.object.load(relaxed) == key && tally.site.load(relaxed) == where) [[likely]]
          return &tally;
      } else if (thread == 0 && tally.thread.compare_exchange_strong(thread, number_, relaxed)) {
        tally.site.store(where, relaxed);
        // The report passes over a tally without an object.
        tally.object.store(key, std::memory_order_release);
        return &tally;
      }
    }
    uncounted_.fetch_add(1, relaxed);
    return nullptr;
  }

  static Tally& at(std::uint32_t index) { return memory_.tallies[index]; }
  static std::uint32_t threads() { return threads_.load(relaxed); }
  static std::uint64_t uncounted() { return uncounted_.load(relaxed); }

  static void clear();  // for the child of a fork, which has a single thread

 private:
  static constexpr std::uint32_t probes = 64;  // so that a full table does not stop the program

  static inline constinit Memory memory_{};
  static inline constinit std::atomic<std::uint32_t> threads_{0};
  static inline constinit Word uncounted_{0};
  static inline constinit thread_local std::uint32_t number_ = 0;
};

void begin();   // when the object is loaded
void report();  // when the process ends; only the first call counts

}  // namespace fairlock::stats
