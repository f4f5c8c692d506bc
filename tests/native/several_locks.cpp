// SPDX-License-Identifier: Apache-2.0
// A thread holds several locks at once, and releases them in any order.
#include <array>
#include <condition_variable>
#include <mutex>

#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/replay.hpp"

namespace {

using Three = std::array<const AnyLock*, 3>;

// Each thread acquires three locks in order and releases them in each of the six orders. Then it acquires each lock
// before it releases the one before. Every lock guards its own replay.
void permutations(Three kinds, unsigned threads, unsigned rounds) {
  Lock a(*kinds[0]), b(*kinds[1]), c(*kinds[2]);
  Lock* const locks[] = {&a, &b, &c};
  Replay replays[3];
  check::together(threads, [&](unsigned i) {
    Private own(i);
    Lock::Episode episodes[3];
    const auto enter = [&](unsigned n) {
      episodes[n] = locks[n]->acquire();
      replays[n].advance();
    };
    const auto leave = [&](unsigned n) {
      replays[n].advance();
      locks[n]->release(episodes[n]);
    };
    for (unsigned round = 0; round < rounds; ++round) {
      std::array order{0u, 1u, 2u};
      do {
        enter(0), enter(1), enter(2);
        for (unsigned n : order) leave(n);
        own.work();
      } while (std::ranges::next_permutation(order).found);
      enter(0), enter(1), leave(0), enter(2), leave(1), leave(2);
    }
  });
  for (const Replay& replay : replays) CHECK(replay.agrees(std::uint64_t{2} * 7 * threads * rounds));
}

// std::scoped_lock locks in any order, and backs out with try_lock.
template <class A, class B, class C>
void scoped(unsigned rounds) {
  A a;
  B b;
  C c;
  Replay replay;
  check::together(3, [&](unsigned i) {
    for (unsigned n = 0; n < rounds; ++n) {
      if (i == 0) {
        std::scoped_lock all(a, b, c);
        replay.advance();
      } else if (i == 1) {
        std::scoped_lock all(c, a, b);
        replay.advance();
      } else {
        std::unique_lock first(b, std::defer_lock);
        std::unique_lock second(c, std::defer_lock);
        std::unique_lock third(a, std::defer_lock);
        std::lock(first, second, third);
        replay.advance();
        first.unlock();
      }
    }
  });
  CHECK(replay.agrees(std::uint64_t{3} * rounds));
}

template <class M>
void with_condition_variable(unsigned rounds) {
  M mutex;
  std::condition_variable_any changed;
  unsigned turn = 0;
  check::together(2, [&](unsigned i) {
    for (unsigned n = 0; n < rounds; ++n) {
      std::unique_lock guard(mutex);
      changed.wait(guard, [&] { return turn % 2 == i; });
      ++turn;
      changed.notify_one();
    }
  });
  CHECK(turn == 2 * rounds);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  const auto& kinds = every_lock();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const unsigned threads = kinds[i].suits(3) ? 3 : 2;
    check::step("three of", kinds[i].name);
    permutations({&kinds[i], &kinds[i], &kinds[i]}, threads, check::rounds(30));

    const AnyLock &next = kinds[(i + 1) % kinds.size()], &further = kinds[(i + 17) % kinds.size()];
    check::step(kinds[i].name, next.name, further.name);
    permutations({&kinds[i], &next, &further}, 2, check::rounds(30));
  }
  using namespace fairlock;
  check::step("std::scoped_lock");
  scoped<mutex<"twa">, mutex<"hapax-vw">, mutex<"hemlock">>(check::rounds(500));
  check::step("std::condition_variable_any");
  with_condition_variable<mutex<"hapax">>(check::rounds(300));
  return check::result();
}
