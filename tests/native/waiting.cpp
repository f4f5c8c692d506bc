// SPDX-License-Identifier: Apache-2.0
// The waiting policies: every semaphore and every lock (except capacitors, whose waiting is that of their parts) with
// more threads than processors, under MutexBench's replay check. Also both ways to park, and the public waits.
#include <fairlock/fairlock.hpp>

#include <chrono>
#include <csignal>

#include <pthread.h>

#include "support/check.hpp"
#include "support/replay.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

namespace {

template <class Enter>
void exclude(unsigned threads, unsigned rounds, Enter enter) {
  Replay replay;
  check::together(threads, [&](unsigned) {
    for (unsigned i = 0; i < rounds; ++i) enter([&] { replay.advance(); });
  });
  CHECK(replay.agrees(std::uint64_t{threads} * rounds));
}

template <class W>
void under(unsigned threads, unsigned rounds) {
  using P = Native<W>;
  for_each_entry(Locks<P>{}, [&]<class E>() {
    if constexpr (E::properties.platoon == 0 && (E::properties.parkable || !W::sleeps)) {
      check::step(std::string(E::name), W::name, W::Parking::name);
      typename E::Lock lock{};
      exclude(threads, rounds, [&](auto body) { with(lock, body); });
      CHECK(!lock.locked());
    }
  });
  for_each_entry(Semaphores<P>{}, [&]<class E>() {
    check::step(std::string(E::name), W::name, W::Parking::name);
    typename E::Semaphore semaphore(1);
    exclude(threads, rounds, [&](auto body) {
      semaphore.acquire();
      body();
      semaphore.release();
    });
    CHECK(semaphore.value() == 1);
  });
}

template <class Backend>
void parking() {
  check::step("parking", Backend::name);
  std::atomic<std::uint32_t> word{1};
  CHECK(Backend::park(word, 0, never));  // another value: it returns at once
  const auto begin = steady_now();
  bool in_time = true;
  while (in_time) in_time = Backend::park(word, 1, begin + 10'000'000);  // it may wake for no reason
  CHECK(steady_now() >= begin + 10'000'000);
  CHECK(!Backend::park(word, 1, begin));  // a deadline that has passed
  std::thread sleeper([&] {
    while (word.load() == 1) Backend::park(word, 1, never);
  });
  std::this_thread::sleep_for(5ms);
  word = 2;
  Backend::unpark(&word);
  sleeper.join();
}

// Several conditions on addresses that may share a chain.
void chains() {
  check::step("wait_until and signal");
  constexpr unsigned pairs = 4;
  struct alignas(64) Turn {
    std::atomic<unsigned> value{0};
  } turns[pairs];
  check::together(2 * pairs, [&](unsigned t) {
    auto& turn = turns[t / 2].value;
    for (unsigned i = t % 2; i < check::rounds(2000); i += 2) {
      wait_until(&turn, [&] { return turn.load(std::memory_order_acquire) == i; });
      turn.store(i + 1, std::memory_order_release);
      fairlock::signal(&turn);
    }
  });
  std::atomic<int> flag{0};
  CHECK(!wait_until(&flag, [&] { return flag.load() != 0; }, deadline_in(5ms)));
  CHECK(!wait_until(&flag, [&] { return flag.load() != 0; }, Deadline{0}));
  flag = 1;
  CHECK(wait_until(&flag, [&] { return flag.load() != 0; }, Deadline{0}));
}

// A notifier is delayed after it has looked at a single waiter, and before it puts the waiter back. Meanwhile a second
// waiter comes on top and gives up, and a signal comes, which must not get lost: the second waiter must not restore the
// mark.
void delayed_notifier() {
  check::step("a delayed notifier");
  static thread_local bool delayed = false;
  const int key = 0;
  std::atomic<bool> ready{false}, looking{false}, go_on{false};
  std::thread waiter([&] {
    CHECK(wait_until(&key, [&] {
      const bool enough = ready.load();
      if (delayed) {
        looking = true;
        check::wait_until([&] { return go_on.load(); });
      }
      return enough;
    }));
  });
  std::this_thread::sleep_for(10ms);
  std::atomic<bool> returned{false};
  const auto notify = [&] {
    delayed = true;
    fairlock::signal(&key);
    delayed = false;
    returned = true;
  };
  std::thread notifier(notify);
  // A notifier that comes before the waiter is on the chain returns at once, and then another one must come.
  while (!looking) {
    std::this_thread::sleep_for(1ms);
    if (!returned.exchange(false)) continue;
    notifier.join();
    notifier = std::thread(notify);
  }
  CHECK(!wait_until(&key, [] { return false; }, deadline_in(20ms)) && !ready);
  std::thread second([&] { CHECK(!wait_until(&key, [] { return false; }, deadline_in(50ms))); });
  std::this_thread::sleep_for(10ms);
  ready = true;
  fairlock::signal(&key);
  second.join();
  go_on = true;
  notifier.join();
  waiter.join();
}

// Only the interrupt ends these waits, and it comes at any moment while the waiter falls asleep.
template <class W>
void many_interrupts() {
  check::step("many interrupts", W::name, W::Parking::name);
  lock<"twa", W> lock{};
  const auto held = lock.acquire();
  interrupt call;
  std::atomic<unsigned> begun{0}, ended{0};
  const unsigned rounds = check::rounds(200);
  std::thread waiter([&] {
    for (unsigned i = 1; i <= rounds; ++i) {
      check::wait_until([&] { return begun.load() == i; });
      CHECK(!lock.acquire_until(interruptible{call}));
      ended = i;
    }
  });
  for (unsigned i = 1; i <= rounds; ++i) {
    call.lower();
    begun = i;
    for (unsigned n = i * 37 % 100; n > 0; --n) relax();
    call.raise();
    check::wait_until([&] { return ended.load() == i; });
  }
  waiter.join();
  lock.release(held);
}

// An interrupt ends a wait at once, and leaves the lock as it was. A signal does not end the wait: the waiter continues
// until its deadline.
void interrupts() {
  check::step("interrupts");
  lock<"twa"> lock{};
  auto held = lock.acquire();
  interrupt call;
  std::atomic<bool> back{false};
  std::thread waiter([&] {
    CHECK(!lock.acquire_until(interruptible{call}));
    back = true;
  });
  std::signal(SIGUSR1, [](int) {});
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(3ms);
    pthread_kill(waiter.native_handle(), SIGUSR1);
  }
  CHECK(!back);
  call.raise();
  waiter.join();
  CHECK(!lock.acquire_until(interruptible{call}));  // it stays raised
  call.lower();
  std::thread second([&] {
    const auto episode = lock.acquire_until(interruptible{call});
    if (CHECK(episode.has_value())) lock.release(*episode);
  });
  std::this_thread::sleep_for(3ms);
  lock.release(held);
  second.join();
  CHECK(!lock.locked());
}

// A Tidex waiter waits for an address in the memory of its predecessor's thread, and these lie whole pages apart.
void chains_of_tidex() {
  check::step("tidex: waiters sleep on different chains");
  using P = Native<Park>;
  TidexLock<P> lock;
  const auto chains_in_use = [] {
    unsigned in_use = 0;
    for (std::uint32_t i = 0; i < P::slots(); ++i) in_use += P::domain().chains[i].load(order::relaxed) != nullptr;
    return in_use;
  };
  constexpr unsigned waiters = 8;
  std::atomic<unsigned> arrived{0};
  const auto held = lock.acquire();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < waiters; ++i)
    threads.emplace_back([&] {
      ++arrived;
      lock.release(lock.acquire());
    });
  check::wait_until([&] { return arrived == waiters; });
  unsigned most = 0;
  for (int i = 0; i < 1000 && most < waiters / 2; ++i, std::this_thread::sleep_for(1ms))
    most = std::max(most, chains_in_use());
  CHECK(most >= waiters / 2);  // some may share a chain by chance
  lock.release(held);
  for (auto& thread : threads) thread.join();
  CHECK(chains_in_use() == 0);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  under<Park>(8, check::rounds(200));
  under<BasicSpinThenPark<PortableParking>>(4, check::rounds(100));
  under<Monitor>(4, check::rounds(300));
  parking<SystemParking>();
  parking<PortableParking>();
  chains();
  delayed_notifier();
  chains_of_tidex();
  interrupts();
  many_interrupts<Park>();
  many_interrupts<BasicPark<PortableParking>>();
  return check::result();
}
