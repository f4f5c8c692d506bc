// SPDX-License-Identifier: Apache-2.0
// NativeThreads: thread-local objects, what a thread frees when it exits, its numbers, and its random numbers.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <fairlock/platform/native/domain.hpp>

namespace fairlock {
inline namespace v0 {

template <DomainOptions O>
struct NativeThreads : NativeDomain<O> {
  using NativeDomain<O>::domain, NativeDomain<O>::max_threads;

  template <class T>
  static T& local() {
    static_assert(std::is_trivially_destructible_v<T>, "a thread's own words vanish with the thread");
    static constinit thread_local T value{};
    return value;
  }

  // One instruction, so a signal handler runs before it or after it. It need not be atomic for other threads.
  static bool advance(std::uint64_t& own, std::uint64_t from) {
#if defined(__x86_64__)
    bool done;
    asm("cmpxchgq %3, %0" : "+m"(own), "=@ccz"(done), "+a"(from) : "r"(from + 1));
    return done;
#else
    return __atomic_compare_exchange_n(&own, &from, from + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
  }

  template <class T>
  class scoped {
   public:
    T& operator*() { return value_; }
    T* operator->() { return &value_; }

   private:
    T value_;
  };

  template <class T>
  static T* create() {
    return new T();
  }
  template <class T>
  static void destroy(T* object) {
    delete object;
  }

  // Allocates nothing: the record is thread-local, one for each type of object. An object that is destroyed after the
  // thread's exit work may still use locks, and then what it passes here is freed at once.
  template <class T>
  static void free_at_exit(void (*free)(void*), T* object) {
    if (!has_exit_work()) return free(object);
    auto& work = local<ExitList>();
    auto& record = local<ExitRecordOf<T>>().record;
    record = {free, object, work.first};
    work.first = &record;
  }

  // The lowest free number, for as long as the thread lives. It is max_threads if all numbers are taken, at the very
  // end of the thread, and while memory is exhausted.
  static unsigned self() {
    const unsigned known = local<SmallNumber>().plus_one;
    return known != 0 ? known - 1 : claim_number();
  }

  static std::uint64_t serial() {
    auto& serial = local<Serial>().number;
    if (serial == 0) serial = domain().serials.fetch_add(1, order::relaxed) + 1;
    return serial;
  }

  static std::uint64_t random() {  // xorshift64*, seeded by the address of the thread's state
    auto& state = local<RandomState>().state;
    if (state == 0) state = reinterpret_cast<std::uintptr_t>(&state) | 1;
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545F4914F6CDD1DULL) >> 16;
  }

  static bool chance(Chance c) { return c.times != 0 && static_cast<std::uint32_t>(random()) < c.of_32_bits(); }

  template <class F>
  static bool guess(const F& estimate) {
    return estimate();
  }

#if defined(__linux__)
  static unsigned cpu() { return place(nullptr); }
  static unsigned node() {
    unsigned node = 0;
    place(&node);
    return node;
  }
#else
  static unsigned cpu() { return 0; }
  static unsigned node() { return 0; }
#endif

 private:
  struct SmallNumber {
    unsigned plus_one;
  };
  struct Serial {
    std::uint64_t number;
  };
  struct RandomState {
    std::uint64_t state;
  };
  struct ExitRecord {
    void (*free)(void*);
    void* object;
    ExitRecord* next;
  };
  template <class T>
  struct ExitRecordOf {
    ExitRecord record;
  };
  struct ExitList {
    ExitRecord* first;
    bool registered;  // ExitWork will run when the thread exits
    bool over;        // ExitWork has begun
  };

  struct ExitWork {
    ~ExitWork() {
      auto& work = local<ExitList>();
      work.over = true;
      while (const ExitRecord* const first = work.first) {
        work.first = first->next;
        first->free(first->object);
      }
    }
  };

  // Whether exit work will run for this thread. False at the very end of the thread, and while memory is exhausted:
  // glibc allocates memory to register a destructor, and aborts if it gets none. So we first try to allocate more than
  // glibc needs.
  static bool has_exit_work() {
    auto& work = local<ExitList>();
    if (work.registered) [[likely]]
      return !work.over;
    void* const memory = ::operator new(NativeMemory<O>::page, std::nothrow);
    if (memory == nullptr) return false;
    ::operator delete(memory);
    static thread_local ExitWork exit_work;
    return work.registered = true;
  }

#if defined(__linux__)
  static unsigned place(unsigned* node) {
    unsigned cpu = 0;
    syscall(SYS_getcpu, &cpu, node, nullptr);
    return cpu;
  }
#endif

  [[gnu::noinline]] static unsigned claim_number() {
    auto& taken = domain().threads;
    if (!has_exit_work()) return max_threads;  // the thread could not give the number back
    for (unsigned i = 0; i < max_threads; ++i) {
      const auto bit = std::uint64_t{1} << (i % 64);
      if (taken[i / 64].load(order::relaxed) & bit) continue;
      if (taken[i / 64].fetch_or(bit, order::acquire) & bit) continue;
      local<SmallNumber>().plus_one = i + 1;
      free_at_exit(&give_number_back, &local<SmallNumber>());
      return i;
    }
    return max_threads;
  }

  static void give_number_back(void* object) {
    auto& plus_one = static_cast<SmallNumber*>(object)->plus_one;
    const unsigned number = plus_one - 1;
    plus_one = 0;
    domain().threads[number / 64].fetch_and(~(std::uint64_t{1} << (number % 64)), order::release);
  }
};

}  // namespace v0
}  // namespace fairlock
