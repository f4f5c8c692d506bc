// SPDX-License-Identifier: Apache-2.0
// The native platform: std::atomic, thread_local, and a waiting policy.
//
// The process's domain is an inline variable of default visibility: one object however many shared libraries include
// this header, even those built with -fvisibility=hidden (GCC marks it unique, so even libraries loaded with
// RTLD_LOCAL share it). Were it hidden, each library would have waiting arrays of its own, and a waiter in one would
// sleep through the wake-up that the other stores.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <type_traits>

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include <thread>

#include <fairlock/detail/hash.hpp>
#include <fairlock/platform/domain.hpp>
#include <fairlock/platform/sleeping.hpp>
#include <fairlock/waiting/chain.hpp>
#include <fairlock/waiting/park.hpp>
#include <fairlock/waiting/spin_history.hpp>
#include <fairlock/waiting/yield_before_park.hpp>

// ThreadSanitizer does not understand fences; a fence that it can see is an RMW on one word.
#if defined(__SANITIZE_THREAD__)
#define FAIRLOCK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIRLOCK_TSAN 1
#endif
#endif

namespace fairlock {
inline namespace v0 {

// How many slots of an array of at most `Most` are in use, where the number of CPUs decides; 0: not yet asked. One for
// the process, like the domain: a waiter and the release that wakes it must agree on the slot.
template <std::uint32_t Most>
[[gnu::visibility("default")]] inline constinit std::atomic<std::uint32_t> slots_in_use{0};

// What needs no waiting policy. Locks with different policies share a domain when they share the options.
template <DomainOptions O>
struct NativeMemory {
  static constexpr std::size_t sector = 128;
  static constexpr std::size_t page = 4096;
  static constexpr std::uint32_t max_slots = O.slots;
  static constexpr unsigned max_lanes = 64;
  static constexpr unsigned max_threads = O.threads;
  static constexpr unsigned left_size = O.left;
  static_assert(O.left != 0, "left: at least one may leave");
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
    // Clang makes a store of an exchange whose result nobody wants, and a fence and a load of adding 0. Locks that say
    // RMW mean it (and the fence is slower), so neither the result nor the summand is left for it to see through.
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
    static std::atomic<int> everyone{0};
    everyone.fetch_add(0, std::memory_order_seq_cst);
    (void)o;
#else
    std::atomic_thread_fence(o);
#endif
  }

  static void fence_after_rmw() {
#if (defined(__x86_64__) || defined(__i386__)) && !defined(FAIRLOCK_TSAN)
    std::atomic_signal_fence(order::seq_cst);  // a locked instruction orders everything: only the compiler must be told
#else
    fence(order::seq_cst);
#endif
  }

  template <class T>
  static T& local() {
    static_assert(std::is_trivially_destructible_v<T>, "a thread's own words vanish with the thread");
    static constinit thread_local T value{};
    return value;
  }

  // One instruction: a signal handler comes before it or after it. It need not be atomic for other threads.
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

  // Allocates nothing: the record is thread-local, one for each kind of object. Objects that are destroyed
  // after the exit work may still use locks: their spares are freed at once.
  template <class T>
  static void keep(void (*free)(void*), T* spare) {
    if (!has_exit_work()) return free(spare);
    auto& kept = local<KeptList>();
    auto& record = local<KeptOf<T>>().record;
    record = {free, spare, kept.first};
    kept.first = &record;
  }

  static constexpr const DomainOptions& options() { return options_; }
  static Domain<NativeMemory>& domain();
  static std::uint32_t salt(const void* object) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object));
  }
  static std::uint64_t identity(const void* object) {
    return reinterpret_cast<std::uintptr_t>(object) | std::uint64_t{1} << 63;
  }
  static Key key(const void* object, std::uint64_t number = 0) { return key_of(salt(object), number); }

  static std::uint32_t slots() {
    if constexpr (!O.slots_by_cpus) {
      return O.slots;
    } else {
      auto known = slots_in_use<O.slots>.load(std::memory_order_relaxed);
      if (known == 0) [[unlikely]] {  // the first answer stays
        std::uint32_t none = 0;
        const auto now = slots_for(std::thread::hardware_concurrency(), O.slots);
        known = slots_in_use<O.slots>.compare_exchange_strong(none, now) ? now : none;
      }
      return known;
    }
  }

  // The lowest free number, for as long as the thread lives. max_threads if all are taken, at the very end of the
  // thread, and while memory is exhausted.
  static unsigned self() {
    const unsigned known = local<SmallNumber>().plus_one;
    return known != 0 ? known - 1 : claim_number();
  }

  static std::uint64_t serial() {
    auto& serial = local<Serial>().number;
    if (serial == 0) serial = domain().serials.fetch_add(1, order::relaxed) + 1;
    return serial;
  }

  static std::uint64_t random() {  // xorshift64*, seeded by where this thread's state lies
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

  [[noreturn, gnu::cold]] static void stop(const char* who, const char* what) {
    std::fprintf(stderr, "fairlock: %s: %s\n", who, what);
    std::abort();
  }

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
  struct Kept {
    void (*free)(void*);
    void* spare;
    Kept* next;
  };
  template <class T>
  struct KeptOf {
    Kept record;
  };
  struct KeptList {
    Kept* first;
    bool registered;  // ExitWork will run when the thread ends
    bool over;        // ExitWork has begun
  };

  struct ExitWork {
    ~ExitWork() {
      auto& kept = local<KeptList>();
      kept.over = true;
      while (const Kept* const first = kept.first) {
        kept.first = first->next;
        first->free(first->spare);
      }
    }
  };

  // Whether the thread will free what it keeps. False at the very end of the thread, and while memory is
  // exhausted: glibc allocates memory to register a destructor, and aborts if it gets none. So we first
  // try to allocate more than glibc needs.
  static bool has_exit_work() {
    auto& kept = local<KeptList>();
    if (kept.registered) [[likely]]
      return !kept.over;
    void* const memory = ::operator new(page, std::nothrow);
    if (memory == nullptr) return false;
    ::operator delete(memory);
    static thread_local ExitWork exit_work;
    return kept.registered = true;
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
      keep(
          [](void* number) {
            const unsigned mine = static_cast<SmallNumber*>(number)->plus_one - 1;
            static_cast<SmallNumber*>(number)->plus_one = 0;
            domain().threads[mine / 64].fetch_and(~(std::uint64_t{1} << (mine % 64)), order::release);
          },
          &local<SmallNumber>());
      return i;
    }
    return max_threads;
  }

  static constexpr DomainOptions options_ = O;
};

// Keyed by plain numbers: under -fvisibility=hidden a template argument of class type hides what it makes, whatever the
// attribute says (GCC 12).
template <std::uint32_t Slots, bool ByCpus, unsigned Lanes, unsigned Pick, unsigned BlockBits, unsigned Left,
          unsigned Threads>
[[gnu::visibility("default")]] inline constinit Domain<
    NativeMemory<DomainOptions{Slots, ByCpus, Lanes, static_cast<Lane>(Pick), BlockBits, Left, Threads}>>
    shared_domain{};

template <DomainOptions O>
inline constexpr auto& process_domain =
    shared_domain<O.slots, O.slots_by_cpus, O.lanes, static_cast<unsigned>(O.lane), O.block_bits, O.left, O.threads>;

template <DomainOptions O>
Domain<NativeMemory<O>>& NativeMemory<O>::domain() {
  return process_domain<O>;
}

// How threads wait: the policies that keep looking.
template <class W, DomainOptions O>
struct NativeWaiting : NativeMemory<O> {
  static constexpr bool sleeps = false;
  static constexpr unsigned looks = W::looks, long_looks = W::long_looks;

  template <class A, class C>
  static auto await(const A& where, const C& condition, std::memory_order o = order::acquire, Key = 0) {
    return *await_until(where, condition, Forever{}, o);
  }

  template <class A, class C, Until U>
  static auto await_until(const A& where, const C& condition, const U& until, std::memory_order o = order::acquire,
                          Key = 0) -> std::optional<decltype(where.load(o))> {
    auto value = where.load(o);
    for (W waiting; !condition(value); value = where.load(o)) {
      if (over(until)) return std::nullopt;
      waiting.step(&where, [&] { return where.load(order::relaxed) == value; });
    }
    return value;
  }

  template <class A, class C>
  static auto await_briefly(const A& where, const C& condition, unsigned looks, std::memory_order o = order::acquire)
      -> std::optional<decltype(where.load(o))> {
    GrowingRests rests(looks);
    do {
      if (auto value = where.load(o); condition(value)) return value;
    } while (rests.rest());
    return std::nullopt;
  }

  // The same, unless that has failed for `lock` lately.
  template <class A, class C>
  static auto await_if_worthwhile(const void* lock, const A& where, const C& condition, unsigned looks,
                                  std::memory_order o) -> std::optional<decltype(where.load(o))> {
    auto& history = NativeMemory<O>::template local<Histories>().looking.of(lock);
    if (!history.worth_trying()) return std::nullopt;
    const auto value = await_briefly(where, condition, looks, o);
    value ? history.succeeded() : history.failed();
    return value;
  }

  // Whether the condition comes true before a sleep would pay: the waiter looks for a few microseconds, then steps
  // aside between looks, but skips either if it has failed lately. A waiter far back in a line spins in vain, and takes
  // the processor from the waiters that are next; most locks cannot tell it where it stands.
  template <class C, Until U>
  static bool satisfied_soon(const void* lock, const C& satisfied, const U& until) {
    auto& histories = NativeMemory<O>::template local<Histories>();
    if (spin_until(satisfied, looks, histories.looking.of(lock), [] { return rest(), true; })) return true;
    if (!observer_of(until).may_yield()) return false;
    Aside aside;
    return spin_until(satisfied, W::steps, histories.stepping.of(lock),
                      [&] { return !until.interrupted() && aside.step(until.deadline()); });
  }

  template <class A, class C, class Pace, Until U>
  static auto await_paced(const A& where, const C& condition, const Pace& pace, const U& until, std::memory_order o,
                          Key = 0) -> std::optional<decltype(where.load(o))> {
    auto value = where.load(o);
    for (W waiting; !condition(value); value = where.load(o)) {
      if (over(until)) return std::nullopt;
      pause(pace(value));
      waiting.step(&where, [&] { return where.load(order::relaxed) == value; });
    }
    return value;
  }

  template <class A, class T, class C>
  static auto await_exchange(A& where, T desired, const C& condition, std::memory_order o = order::acquire) {
    auto value = where.exchange(desired, o);
    for (W waiting; !condition(value); value = where.exchange(desired, o))
      waiting.step(&where, [&] { return where.load(order::relaxed) == value; });
    return value;
  }

  // Waits until the gate says woken; false if `until` came first.
  template <class A, Until U>
  static bool watch(const A& gate, const U& until) {
    return await_until(gate, [](auto now) { return now == gate_woken; }, until).has_value();
  }

  template <class A, class T, class... K>
  static void publish(A& where, T value, K...) {
    where.store(value, order::release);
  }
  template <class... K>
  static void signal(K...) {}

  template <class A, Until U>
  static bool park(const A& word, std::uint64_t value, const U& until) {
    auto&& observer = observer_of(until);
    observer.before_park(&word, &W::Parking::unpark);
    const bool in_time = !until.interrupted() && sleep(low_half(word.word()), static_cast<std::uint32_t>(value), until);
    observer.after_park();
    return in_time && !until.interrupted();
  }
  static void unpark(const void* word) { W::Parking::unpark(word); }

  static std::uint64_t now() { return steady_now(); }

  static void pause(unsigned n) {
    while (n-- > 0) relax();
  }

  template <Until U>
  static bool over(const U& until) {
    return until.interrupted() || (until.deadline() != never && now() >= until.deadline());
  }

  // The same, or at another time if that is sooner.
  template <Until U>
  struct Sooner {
    const U& until;
    std::uint64_t at;
    std::uint64_t deadline() const { return at < until.deadline() ? at : until.deadline(); }
    bool interrupted() const { return until.interrupted(); }
    decltype(auto) observer() const { return observer_of(until); }
  };
  template <Until U>
  static Sooner<U> soon(const U& until) {
    return patience(until, 1'000'000);
  }
  template <Until U>
  static Sooner<U> patience(const U& until, std::uint64_t nanoseconds) {
    return {until, now() + nanoseconds};
  }

 protected:
  // False: the deadline has passed, or interrupted() returned true between two sleeps.
  template <Until U>
  static bool sleep(const std::atomic<std::uint32_t>& word, std::uint32_t value, const U& until) {
    for (;;) {
      const auto deadline = until.deadline(), check = observer_of(until).next_check();
      if (deadline <= check) return W::Parking::park(word, value, deadline);
      if (W::Parking::park(word, value, check)) return true;
      if (until.interrupted()) return false;
    }
  }

  struct Histories {
    SpinHistories looking, stepping;
  };

  template <class C, class S>
  static bool spin_until(const C& satisfied, unsigned most, SpinHistory& history, const S& step) {
    if (!history.worth_trying()) return false;
    for (unsigned i = 0; i < most; ++i) {
      if (satisfied()) {
        history.succeeded();
        return true;
      }
      if (!step()) return satisfied();
    }
    history.failed();
    return false;
  }

  // The kernel compares 32 bits. Of a counter they change with every step.
  static const std::atomic<std::uint32_t>& low_half(const std::atomic<std::uint32_t>& word) { return word; }
  static const std::atomic<std::uint32_t>& low_half(const std::atomic<std::uint64_t>& word) {
    static_assert(std::endian::native == std::endian::little);
    return reinterpret_cast<const std::atomic<std::uint32_t>&>(word);
  }
};

template <class W = SpinThenPark, DomainOptions O = DomainOptions{}>
struct Native : SleepingIf<W, NativeWaiting<W, O>> {};

}  // namespace v0
}  // namespace fairlock
