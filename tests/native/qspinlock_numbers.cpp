// SPDX-License-Identifier: Apache-2.0
// qspinlock when small thread numbers run out: a thread without a number takes the lock by trying, beside threads that
// queue.
#include <fairlock/fairlock.hpp>

#include "support/hooked.hpp"
#include "support/replay.hpp"

using namespace fairlock;

namespace {

// Threads in a domain that has only a few free numbers.
void few_numbers(unsigned free_numbers) {
  check::step("qspinlock with", std::to_string(free_numbers), "thread numbers");
  constexpr DomainOptions options{.slots = 8};
  using P = Native<Yield, options>;
  auto& taken = P::domain().threads;
  for (auto& word : taken) word.store(~std::uint64_t{0}, order::relaxed);
  taken[7].store(~((std::uint64_t{1} << free_numbers) - 1), order::relaxed);

  constexpr unsigned threads = 6;
  const unsigned rounds = check::rounds(1000);
  std::atomic<unsigned> without{0}, claimed{0};
  QspinLock<P> lock{};
  Replay replay;
  check::together(threads, [&](unsigned i) {
    if (P::self() == P::max_threads) ++without;
    else CHECK(P::self() / 64 == 7);
    claimed.fetch_add(1);
    check::wait_until([&] { return claimed == threads; });
    Private own(i);
    for (unsigned n = 0; n < rounds; ++n, own.work()) with(lock, [&] { replay.advance(); });
  });
  CHECK(replay.agrees(std::uint64_t{threads} * rounds));
  CHECK(without == threads - std::min(threads, free_numbers));
  CHECK(taken[7].load(order::relaxed) == ~((std::uint64_t{1} << free_numbers) - 1));
  for (auto& word : taken) word.store(0, order::relaxed);
}

// A pending bit that a thread sets and clears again must not look like a successor in the queue. If the thread has no
// number, it never comes to the queue, and the head of the queue would wait for it while it holds the lock.
//
//   owner         holds the lock, without waiters
//   numberless    has no number; sees no waiters, and is about to set the pending bit
//   second        sets the pending bit; third queues behind it
//   owner, second leave; third is at the head and has seen that the word is free
//   numberless    sets the pending bit now: too late, it will clear it again
//   third         fails to take the word, because of that bit
struct SomeNumbers : Hooked {
  static inline thread_local bool none = false;
  static unsigned self() { return none ? max_threads : Hooked::self(); }
};

void pending_bit_of_a_thread_without_a_number() {
  check::step("qspinlock: a thread without a number clears its pending bit again");
  QspinLock<SomeNumbers> lock{};
  const auto word = [&] {
    std::uint32_t value = 0;
    lock.fields([&](const char*, const auto& atomic) { value = atomic.peek(); });
    return value;
  };
  Stop before_pending, before_clear, before_entry, after_entry_failed;
  const auto owner = lock.acquire();

  std::thread numberless([&] {
    SomeNumbers::none = true;
    Hooked::hook() = [&](Operation next) {
      if (next == Operation::fetch_or) before_pending.here();
      if (next == Operation::fetch_and) before_clear.here();
    };
    const auto episode = lock.acquire();
    Hooked::hook() = nullptr;
    lock.release(episode);
  });
  before_pending.await();
  std::thread second([&] { lock.release(lock.acquire()); });
  check::wait_until([&] { return (word() & 0x100) != 0; });
  std::thread third([&] {
    Hooked::hook() = [&, tried = false](Operation next) mutable {
      if (tried && !after_entry_failed.reached()) after_entry_failed.open(), after_entry_failed.here();
      if (next == Operation::cas && !tried) tried = true, before_entry.here();
    };
    const auto episode = lock.acquire();
    Hooked::hook() = nullptr;
    lock.release(episode);
  });
  check::wait_until([&] { return word() >> 16 != 0; });
  lock.release(owner);
  second.join();
  before_entry.await();
  before_pending.open();
  before_clear.await();
  before_entry.open();
  after_entry_failed.await();
  before_clear.open();
  numberless.join();
  third.join();
  CHECK(word() == 0);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  for (unsigned free_numbers : {0u, 1u, 3u, 8u}) few_numbers(free_numbers);
  pending_bit_of_a_thread_without_a_number();
  return check::result();
}
