// SPDX-License-Identifier: Apache-2.0
// Release by another thread, where the catalogue claims it: one thread acquires and hands the episode over, and is back
// in line for the same lock before the other thread has released it.
#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/replay.hpp"

namespace {

// A mailbox with one place, for one sender and one receiver.
template <class Episode>
class Mailbox {
 public:
  void put(Episode episode) {
    check::wait_until([&] { return !full_.load(std::memory_order_acquire); });
    episode_ = episode;
    full_.store(true, std::memory_order_release);
  }
  Episode take() {
    check::wait_until([&] { return full_.load(std::memory_order_acquire); });
    const auto episode = episode_;
    full_.store(false, std::memory_order_release);
    return episode;
  }

 private:
  Episode episode_;
  std::atomic<bool> full_{false};
};

void hand_over(const AnyLock& kind, bool contended, unsigned rounds) {
  Lock lock(kind);
  Replay replay;
  Mailbox<Lock::Episode> mailbox;
  check::together(contended ? 3 : 2, [&](unsigned thread) {
    for (unsigned n = 0; n < rounds; ++n) {
      if (thread == 0) {
        const auto episode = lock.acquire();
        replay.advance();
        mailbox.put(episode);
      } else if (thread == 1) {
        const auto episode = mailbox.take();
        replay.advance();
        lock.release(episode);
      } else {
        lock.with([&] { replay.advance(); });
      }
    }
  });
  CHECK(replay.agrees(std::uint64_t{rounds} * (contended ? 3 : 2)));
  CHECK(!lock.locked());
}

// The same with Mutex, in turns: the lock is a signal from one thread to the other.
void turns(const AnyLock& kind, unsigned rounds) {
  Lockable mutex(kind);
  std::atomic<unsigned> turn{0};
  unsigned plain = 0;
  check::together(2, [&](unsigned thread) {
    for (unsigned n = 0; n < rounds; ++n) {
      check::wait_until([&] { return turn.load(std::memory_order_acquire) == 2 * n + thread; });
      if (thread == 0) mutex.lock();
      ++plain;
      if (thread == 1) mutex.unlock();
      turn.store(2 * n + thread + 1, std::memory_order_release);
    }
  });
  CHECK(plain == 2 * rounds);
}

// If one thread only acquires and another only releases, elements move from the first to the second. They must not
// accumulate there.
struct Counting : fairlock::Native<fairlock::Yield> {
  static inline std::atomic<int> alive{0};
  template <class T>
  static T* create() {
    return ++alive, new T();
  }
  template <class T>
  static void destroy(T* element) {
    --alive, delete element;
  }
};

template <class L>
void elements_do_not_accumulate(const char* name) {
  check::step(name, "acquired by one thread only");
  const int before = Counting::alive;
  {
    L lock{};
    Mailbox<typename L::Episode> mailbox;
    check::together(2, [&](unsigned thread) {
      for (unsigned n = 0; n < 1000; ++n) {
        if (thread == 0) mailbox.put(lock.acquire());
        else lock.release(mailbox.take());
      }
      if (thread == 1) CHECK(Counting::alive <= before + 100);
    });
  }
  CHECK(Counting::alive == before);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  for (const AnyLock& kind : every_lock()) {
    // Another thread cannot release a lock that keeps an identity or an element for each thread.
    const std::string_view name = kind.name;
    const bool bound =
        name == "tidex" || name == "hemlock" || name == "reciprocating" || name.starts_with("capacitor-reciprocating");
    CHECK(kind.properties.thread_oblivious == !bound);
    if (!kind.properties.thread_oblivious) continue;
    check::step(name, "two threads");
    hand_over(kind, false, check::rounds(2000));
    check::step(name, "Mutex, two threads in turns");
    turns(kind, check::rounds(200));
    if (!kind.suits(3)) continue;
    check::step(name, "beside a third thread");
    hand_over(kind, true, check::rounds(1000));
  }
  using namespace fairlock;
  elements_do_not_accumulate<McsLock<Counting>>("mcs");
  elements_do_not_accumulate<ClhLock<Counting>>("clh");
  elements_do_not_accumulate<Hemlock<Counting, HemlockOptions{.elements = Elements::per_episode}>>("hemlock");
  elements_do_not_accumulate<ReciprocatingLock<Counting, ReciprocatingOptions{.elements = Elements::per_episode}>>(
      "reciprocating");
  return check::result();
}
