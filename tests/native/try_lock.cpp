// SPDX-License-Identifier: Apache-2.0
// try_acquire, where the algorithm has a sound one: it succeeds if the lock is free, fails if it is held, and keeps
// exclusion beside threads that wait in line.
#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/replay.hpp"

using namespace fairlock;

// The identities of Tidex recur, so it has no try_acquire.
template <class M>
concept HasTryLock = requires(M mutex) { mutex.try_lock(); };

static_assert(!TryLock<lock<"tidex">> && !HasTryLock<mutex<"tidex">>);
static_assert(TryLock<lock<"ticket">> && HasTryLock<mutex<"ticket">>);
static_assert(TryLock<lock<"hapax-vw">> && HasTryLock<mutex<"hapax-vw">>);

namespace {

void free_and_held(const AnyLock& kind) {
  Lock lock(kind);
  Lock::Episode mine, none;
  for (unsigned n = 0; n < 200; ++n) {
    if (n % 2) mine = lock.acquire();
    else CHECK(lock.try_acquire(mine));
    CHECK(lock.locked());
    CHECK(!lock.try_acquire(none));
    lock.release(mine);
    CHECK(!lock.locked());
  }
  mine = lock.acquire();
  std::thread([&] { CHECK(!lock.try_acquire(none)); }).join();
  lock.release(mine);
  std::thread([&] {
    if (CHECK(lock.try_acquire(none))) lock.release(none);
  }).join();

  Lockable mutex(kind);
  CHECK(mutex.try_lock());
  CHECK(!mutex.try_lock());
  mutex.unlock();
  mutex.lock();
  CHECK(!mutex.try_lock());
  mutex.unlock();
}

// Half of the threads wait in line, and the other half only tries. A thread that tries stops when it has had its share,
// so this also shows that tries succeed again once the line is empty.
void mixed(const AnyLock& kind, unsigned threads, unsigned share) {
  Lock lock(kind);
  Replay replay;
  check::together(threads, [&](unsigned i) {
    Private own(i);
    for (unsigned done = 0; done < share; own.work()) {
      Lock::Episode episode;
      if (i % 2 == 0) {
        episode = lock.acquire();
      } else if (!lock.try_acquire(episode)) {
        std::this_thread::yield();
        continue;
      }
      replay.advance();
      lock.release(episode);
      ++done;
    }
  });
  CHECK(replay.agrees(std::uint64_t{threads} * share));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  for (const AnyLock& kind : every_lock()) {
    const bool none = kind.properties.name == std::string_view("tidex");
    check::step(kind.name);
    CHECK(kind.try_lock == !none);
    if (!kind.try_lock) continue;
    check::step(kind.name, "free and held");
    free_and_held(kind);
    for (unsigned threads : {2u, 4u}) {
      if (!kind.suits(threads)) continue;
      check::step(kind.name, "tries and acquires,", std::to_string(threads), "threads");
      mixed(kind, threads, check::rounds(1000));
    }
  }
  return check::result();
}
