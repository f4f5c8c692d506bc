// SPDX-License-Identifier: Apache-2.0
// The native platform keeps the contract of every platform, under each waiting policy, and the concepts declare every
// name of the contract. platform_preload.cpp and platform_checked.cpp do the same for the other platforms.
#include <fairlock/fairlock.hpp>

#include "support/hooked.hpp"
#include "support/platform_contract.hpp"

using namespace fairlock;

namespace {

// --- a platform that lacks a name is no platform ---

// tests/native/test_native.py compares this list with the names that the algorithms use.
#define LACKS(name)                \
  struct Lacks_##name : Native<> { \
   private:                        \
    static void name();            \
  };                               \
  static_assert(!Platform<Lacks_##name>);
#define LACKS_TEMPLATE(name)       \
  struct Lacks_##name : Native<> { \
   private:                        \
    template <class>               \
    class name;                    \
  };                               \
  static_assert(!Platform<Lacks_##name>);

LACKS_TEMPLATE(atomic)
LACKS_TEMPLATE(plain)
LACKS_TEMPLATE(scoped)
LACKS(advance)
LACKS(await)
LACKS(await_briefly)
LACKS(await_exchange)
LACKS(await_if_worthwhile)
LACKS(await_paced)
LACKS(await_until)
LACKS(chance)
LACKS(cpu)
LACKS(create)
LACKS(destroy)
LACKS(domain)
LACKS(fence)
LACKS(fence_after_rmw)
LACKS(free_at_exit)
LACKS(guess)
LACKS(identity)
LACKS(key)
LACKS(local)
LACKS(long_spin)
LACKS(max_lanes)
LACKS(max_leavers)
LACKS(max_slots)
LACKS(max_threads)
LACKS(node)
LACKS(now)
LACKS(options)
LACKS(over)
LACKS(page)
LACKS(park)
LACKS(pause)
LACKS(publish)
LACKS(random)
LACKS(salt)
LACKS(satisfied_soon)
LACKS(sector)
LACKS(self)
LACKS(serial)
LACKS(short_spin)
LACKS(signal)
LACKS(sleeps)
LACKS(slots)
LACKS(stop)
LACKS(unpark)
LACKS(watch)
LACKS(within)

// --- a platform keeps its promises ---

// A wait that another thread or a signal handler has interrupted.
struct Interrupted {
  static constexpr std::uint64_t deadline() { return never; }
  static constexpr bool interrupted() { return true; }
};

// What a front end sees of a wait.
struct Observed : WaitObserver {
  mutable unsigned before = 0, after = 0, looks = 0;
  mutable const void* word = nullptr;
  std::uint64_t deadline() const { return never; }
  bool interrupted() const { return before != 0 && ++looks > 3; }
  const Observed& observer() const { return *this; }
  void before_park(const void* parked_on, Unpark) const { ++before, word = parked_on; }
  void after_park() const { ++after; }
  std::uint64_t next_check() const { return 0; }  // look at once
};

template <class P>
void observers() {
  typename P::template atomic<std::uint64_t> word{};
  const Observed plain, bounded;
  CHECK(!P::park(word, 0, plain));  // would otherwise sleep forever
  CHECK(plain.before == 1 && plain.after == 1 && plain.word == &word && plain.looks > 3);
  CHECK(!P::park(word, 0, P::within(bounded, 1'000'000)));
  CHECK(bounded.before == 1 && bounded.after == 1 && bounded.word == &word);
}

// unpark() wakes every thread that sleeps on the address.
template <class P>
void unpark_wakes_all() {
  typename P::template atomic<std::uint64_t> word{};
  std::atomic<unsigned> asleep{0};
  check::together(4, [&](unsigned thread) {
    if (thread != 0) {
      ++asleep;
      while (word.load(order::acquire) == 0) P::park(word, 0, Forever{});
    } else {
      check::wait_until([&] { return asleep == 3; });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // they probably sleep by now
      word.store(1, order::release);
      P::unpark(&word);
    }
  });
}

// What the checker leaves open.
template <class P>
void native_promises(const char* policy) {
  check::step("only native", policy);
  typename P::template atomic<std::uint64_t> word{};
  const auto is_never = [](std::uint64_t) { return false; };
  observers<P>();
  unpark_wakes_all<P>();
  CHECK(P::over(Interrupted{}));
  CHECK(P::over(P::within(Interrupted{}, 1'000'000'000)));
  CHECK(!P::await_until(word, is_never, Interrupted{}, order::acquire));
  CHECK(!P::park(word, 0, Interrupted{}));
  CHECK(!P::park(word, 0, P::within(Forever{}, 0)));
  CHECK(P::satisfied_soon(&word, [] { return true; }, Deadline{0}) == (P::short_spin != 0));

  const auto begin = P::now();
  constexpr std::uint64_t millisecond = 1'000'000;
  CHECK(!P::over(Deadline{begin + 1000 * 1000 * millisecond}) && P::over(Deadline{begin}));
  CHECK(!P::await_until(word, is_never, Deadline{begin + millisecond}, order::acquire));
  CHECK(P::now() >= begin + millisecond);
  const Deadline sooner{begin + 2 * millisecond};
  CHECK(P::within(sooner, 1000 * 1000 * millisecond).deadline() == begin + 2 * millisecond);
  CHECK(P::within(Forever{}, millisecond).deadline() < never);

  std::uint64_t own = 2;  // a signal handler has advanced it from 1
  CHECK(!P::advance(own, 1) && own == 2);
  CHECK(P::guess([] { return true; }) && !P::guess([] { return false; }));
  unsigned heads = 0;
  for (unsigned i = 0; i < 1000; ++i) heads += P::chance({1, 2});
  CHECK(heads > 300 && heads < 700);

  // A thread's small number is free again after its exit, and its serial number is not.
  unsigned numbers[2];
  std::uint64_t serials[2];
  for (unsigned i : {0u, 1u}) std::thread([&, i] { numbers[i] = P::self(), serials[i] = P::serial(); }).join();
  CHECK(numbers[0] == numbers[1] && numbers[0] < P::max_threads && serials[0] != serials[1]);

  CHECK(
      check::in_child([] { P::stop("this lock", "was misused"); }).aborted_saying("fairlock: this lock: was misused"));
}

template <class W>
void under_policy() {
  keeps_the_contract<Native<W>>("native", W::name);
  keeps_the_contract<CountingNative<W>>("counting", W::name);
  keeps_the_contract<Jittery<Native<W>>>("jittery", W::name);
  keeps_the_contract<Native<W, DomainOptions{.slots = 16, .slots_by_cpus = true, .lanes = 4, .leavers = 2}>>(
      "another domain", W::name);
  native_promises<Native<W>>(W::name);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  for_each_policy(Policies{}, []<class W>() { under_policy<W>(); });
  for_each_policy(PoliciesWith<PortableParking>{}, []<class W>() {
    if constexpr (W::sleeps) under_policy<W>();
  });
  return check::result();
}
