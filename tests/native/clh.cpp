// SPDX-License-Identifier: Apache-2.0
// A waiter that leaves a CLH lock leaves a node behind. However it leaves, and whichever waiters leave at the same
// time, the next waiter sees the true state of the lock, and nodes do not accumulate.
#include <fairlock/fairlock.hpp>

#include "support/check.hpp"
#include "support/hooked.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

namespace {

template <class Base>
struct Counting : Base {
  static inline std::atomic<int> alive{0};
  template <class T>
  static T* create() {
    return ++alive, new T();
  }
  template <class T>
  static void destroy(T* node) {
    --alive, delete node;
  }
};

using P = Counting<Hooked>;
using L = ClhLock<P>;

// A thread that arrives with a deadline in the past, and stops before each step of leaving.
class Leaver {
 public:
  explicit Leaver(L& lock)
      : thread_([this, &lock] {
          P::hook() = [this](Operation next) {
            if (next == Operation::cas) undo.here();
            if (next == Operation::store) publish.here();
          };
          const bool admitted = lock.acquire_until(Deadline{0}).has_value();
          P::hook() = nullptr;
          CHECK(!admitted);
        }) {
    undo.await();
  }
  void join() { thread_.join(); }

  Stop undo;     // before it undoes its arrival, as the last in line
  Stop publish;  // before it tells its successor that it has left

 private:
  std::thread thread_;
};

// A thread keeps spare nodes until it ends.
template <class Counted, class F>
void expect_no_node_left(const F& use) {
  const int before = Counted::alive;
  std::thread([&] { use(before); }).join();
  CHECK(Counted::alive == before);
}

// The second leaver undoes its arrival after the first has seen that it is not the last in line, and before it
// publishes that it has left. An abandoned node is then the last in line, without a successor, until another thread
// arrives. That thread then leaves another node in its place.
void side_by_side() {
  check::step("two adjacent waiters leave, again and again");
  for (const bool another_comes : {true, false})
    expect_no_node_left<P>([&](int before) {
      L lock;
      const auto held = lock.acquire();
      for (unsigned n = 0; n < check::rounds(100); ++n) {
        Leaver first(lock), second(lock);
        first.undo.open();
        first.publish.await();
        const bool publishes_first = n % 2 != 0;
        if (publishes_first) first.publish.open(), first.join();
        second.undo.open();
        second.join();
        if (!publishes_first) first.publish.open(), first.join();
        CHECK(!second.publish.reached());  // it was the last in line
        CHECK(lock.locked());
        CHECK(P::alive == before + 2);  // the owner's node and the abandoned node
      }
      lock.release(held);
      CHECK(!lock.locked());
      if (!another_comes) return;  // the lock's destructor frees the node
      const auto mine = lock.try_acquire();
      if (CHECK(mine.has_value())) lock.release(*mine);
    });
}

void at_the_instant_of_the_grant() {
  check::step("the last in line leaves when the lock is released");
  L lock;
  auto held = lock.acquire();
  Leaver last(lock);
  lock.release(held);
  last.undo.open();
  last.join();
  CHECK(!lock.locked());
  const auto mine = lock.try_acquire();
  if (!CHECK(mine.has_value())) return;
  held = *mine;

  check::step("another one leaves when the lock is released");
  Leaver leaver(lock);
  std::atomic<bool> entered{false};
  Stop in_line;
  std::thread heir([&] {
    P::hook() = [&](Operation next) {
      if (next == Operation::load) in_line.here();
    };
    const auto episode = lock.acquire();
    P::hook() = nullptr;
    entered = true;
    lock.release(episode);
  });
  in_line.await();
  in_line.open();
  lock.release(held);
  leaver.undo.open();
  leaver.publish.await();
  CHECK(!entered);  // it does not know yet that the leaver has left
  leaver.publish.open();
  leaver.join();
  heir.join();
  CHECK(entered && !lock.locked());
}

// Threads that poll behind an owner that holds the lock for long.
template <class W>
void polling() {
  using Polled = Counting<Native<W>>;
  check::step("polling,", W::name);
  constexpr int threads = 4, spare = Spares<int>::most;
  expect_no_node_left<Polled>([](int before) {
    ClhLock<Polled> lock;
    const auto held = lock.acquire();
    check::together(threads, [&](unsigned t) {
      for (unsigned n = 0; n < check::rounds(1000); ++n) {
        if (t == 0) CHECK(!lock.try_acquire());
        else CHECK(!lock.acquire_until(deadline_in(std::chrono::microseconds(5 * t))));
        // The owner's node. For each thread, its node in line, one that its successor has not seen yet, and its spares.
        CHECK(Polled::alive <= before + 1 + threads * (2 + spare));
      }
    });
    CHECK(Polled::alive <= before + 1 + threads);
    lock.release(held);
    CHECK(!lock.locked());
    const auto mine = lock.try_acquire();
    if (CHECK(mine.has_value())) lock.release(*mine);
  });
}

// In a debug build, a release checks that the lock is held. The nodes behind the owner's may be gone at any time, so
// the release must not look at them. AddressSanitizer would notice.
void released_beside_a_leaver() {
  check::step("released in a debug build while a waiter leaves and ends");
  Mutex<L, true> mutex;
  mutex.lock();
  Leaver last(mutex.inner());
  unsigned loads = 0;
  const auto leaves = [&] {
    last.undo.open();
    last.join();
  };
  P::hook() = [&](Operation next) {
    if (next == Operation::load && ++loads == 2) leaves();
  };
  mutex.unlock();
  P::hook() = nullptr;
  if (loads < 2) leaves();
  CHECK(!mutex.locked());
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  side_by_side();
  at_the_instant_of_the_grant();
  polling<Yield>();
  polling<SpinThenPark>();
  released_beside_a_leaver();
  return check::result();
}
