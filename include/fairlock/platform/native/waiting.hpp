// SPDX-License-Identifier: Apache-2.0
// NativeWaiting: how a thread waits under a waiting policy W that keeps looking at the word. Sleeping (sleeping.hpp)
// adds the sleep.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include <fairlock/platform/native/threads.hpp>
#include <fairlock/waiting/chain.hpp>
#include <fairlock/waiting/relax.hpp>
#include <fairlock/waiting/spin_history.hpp>
#include <fairlock/waiting/yield_before_park.hpp>

namespace fairlock {
inline namespace v0 {

template <class W, DomainOptions O>
struct NativeWaiting : NativeThreads<O> {
  static constexpr bool sleeps = false;
  static constexpr unsigned short_spin = W::short_spin, long_spin = W::long_spin;

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

  template <class A, class C, class Pace, Until U>
  static auto await_paced(const A& where, const C& condition, const Pace& pauses, const U& until, std::memory_order o,
                          Key = 0) -> std::optional<decltype(where.load(o))> {
    auto value = where.load(o);
    for (W waiting; !condition(value); value = where.load(o)) {
      if (over(until)) return std::nullopt;
      pause(pauses(value));
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

  template <class A, class C>
  static auto await_briefly(const A& where, const C& condition, unsigned looks, std::memory_order o = order::acquire)
      -> std::optional<decltype(where.load(o))> {
    GrowingRests rests(looks);
    do {
      if (auto value = where.load(o); condition(value)) return value;
    } while (rests.rest());
    return std::nullopt;
  }

  template <class A, class C>
  static auto await_if_worthwhile(const void* lock, const A& where, const C& condition, unsigned looks,
                                  std::memory_order o) -> std::optional<decltype(where.load(o))> {
    auto& history = NativeThreads<O>::template local<Histories>().spins.of(lock);
    if (!history.worth_trying()) return std::nullopt;
    const auto value = await_briefly(where, condition, looks, o);
    value ? history.succeeded() : history.failed();
    return value;
  }

  // The waiter looks for a few microseconds, and then yields its processor between looks. It skips either step if that
  // step has recently failed: a waiter far back in a line spins in vain, and takes the processor from the waiters that
  // are next. Most locks cannot tell a waiter its place in line.
  template <class C, Until U>
  static bool satisfied_soon([[maybe_unused]] const void* lock, [[maybe_unused]] const C& satisfied,
                             [[maybe_unused]] const U& until) {
    if constexpr (short_spin == 0) {
      return false;
    } else {
      auto& histories = NativeThreads<O>::template local<Histories>();
      if (spin_until(satisfied, short_spin, histories.spins.of(lock), [] { return rest(), true; })) return true;
      if (!observer_of(until).may_yield()) return false;
      YieldTurn turn;
      return spin_until(satisfied, W::yields, histories.yields.of(lock),
                        [&] { return !until.interrupted() && turn.yield(until.deadline()); });
    }
  }

  template <class A, class T, class... K>
  static void publish(A& where, T value, K...) {
    where.store(value, order::release);
  }
  template <class... K>
  static void signal(K...) {}

  template <class A, Until U>
  static bool watch(const A& gate, const U& until) {
    return await_until(gate, [](auto now) { return now == gate_woken; }, until).has_value();
  }

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

  template <Until U>
  struct Sooner {
    const U& until;
    std::uint64_t at;
    std::uint64_t deadline() const { return at < until.deadline() ? at : until.deadline(); }
    bool interrupted() const { return until.interrupted(); }
    decltype(auto) observer() const { return observer_of(until); }
  };
  template <Until U>
  static Sooner<U> within(const U& until, std::uint64_t nanoseconds) {
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
    SpinHistories spins, yields;
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

  // The kernel compares 32 bits. The lower bits of a counter change with every step.
  static const std::atomic<std::uint32_t>& low_half(const std::atomic<std::uint32_t>& word) { return word; }
  static const std::atomic<std::uint32_t>& low_half(const std::atomic<std::uint64_t>& word) {
    static_assert(std::endian::native == std::endian::little);
    return reinterpret_cast<const std::atomic<std::uint32_t>&>(word);
  }
};

}  // namespace v0
}  // namespace fairlock
