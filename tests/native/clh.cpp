// SPDX-License-Identifier: Apache-2.0
// Those who leave a CLH lock leave nodes behind. Whichever way they leave, and whoever leaves beside them, the next in
// line finds the lock as it is, and the nodes do not pile up.
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

// A thread that arrives, does not want to wait, and stops before each step of leaving.
class Leaver {
 public:
  explicit Leaver(L& lock)
      : thread_([this, &lock] {
          P::hook() = [this](Operation next) {
            if (next == Operation::cas) undo.here();
            if (next == Operation::store) tell.here();
          };
          const bool admitted = lock.acquire_until(Deadline{0}).has_value();
          P::hook() = nullptr;
          CHECK(!admitted);
        }) {
    undo.await();
  }
  void join() { thread_.join(); }

  Stop undo, tell;  // at the tail; to the successor

 private:
  std::thread thread_;
};

// Threads keep spare nodes; those of a thread that has ended are gone.
template <class Counted, class F>
void expect_no_node_left(const F& use) {
  const int before = Counted::alive;
  std::thread([&] { use(before); }).join();
  CHECK(Counted::alive == before);
}

// The one behind undoes its arrival while the one before it is between finding out that it is not the last and telling
// so. A node that was left is then the last, without a successor, until somebody comes; and who comes leaves another in
// its place.
void side_by_side() {
  check::step("two leave side by side, again and again");
  for (const bool somebody_comes : {true, false})
    expect_no_node_left<P>([&](int before) {
      L lock;
      const auto held = lock.acquire();
      for (unsigned n = 0; n < check::rounds(100); ++n) {
        Leaver first(lock), second(lock);
        first.undo.open();
        first.tell.await();
        const bool told_before = n % 2 != 0;
        if (told_before) first.tell.open(), first.join();
        second.undo.open();
        second.join();
        if (!told_before) first.tell.open(), first.join();
        CHECK(!second.tell.reached());  // it was the last
        CHECK(lock.locked());
        CHECK(P::alive == before + 2);  // the owner's, and the one that was left
      }
      lock.release(held);
      CHECK(!lock.locked());
      if (!somebody_comes) return;  // the lock takes it along
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
  leaver.tell.await();
  CHECK(!entered);  // it does not know yet
  leaver.tell.open();
  leaver.join();
  heir.join();
  CHECK(entered && !lock.locked());
}

// Threads that come back all the time behind a long holder.
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
        // The owner's; each thread stands in line with one, and has left one to somebody who has not looked yet.
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

// The owner's release in a debug build asks whether the lock is held. The nodes behind its own may be gone at any time:
// it must not look at them (AddressSanitizer does).
void watched() {
  check::step("released in a debug build, while somebody leaves and ends");
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
  watched();
  return check::result();
}
