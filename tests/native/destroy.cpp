// SPDX-License-Identifier: Apache-2.0
// A release does not touch the lock after the store that admits the next owner or frees the lock, so the next owner may
// destroy it at once. AddressSanitizer and ThreadSanitizer would notice an access.
#include <memory>

#include "support/any_lock.hpp"
#include "support/replay.hpp"

int main(int argc, char** argv) {
  check::start(argc, argv);
  for (const AnyLock& kind : every_lock()) {
    if (kind.properties.release_touches_lock) continue;
    for (const bool by_try : {false, true}) {
      if (by_try && !kind.try_lock) continue;
      check::step(kind.name, by_try ? "acquired by a try" : "acquired after a wait");
      std::unique_ptr<Lock> lock;
      std::atomic<unsigned> held{0}, gone{0};
      const unsigned rounds = check::rounds(300);
      check::together(2, [&](unsigned thread) {
        Private own(thread);
        for (unsigned n = 1; n <= rounds; ++n) {
          if (thread == 0) {
            lock = std::make_unique<Lock>(kind);
            const auto episode = lock->acquire();
            Lock& mine = *lock;
            held.store(n, std::memory_order_release);
            for (unsigned m = own.next() % 64; m > 0; --m) own.work();  // the other thread may arrive meanwhile
            mine.release(episode);
            check::wait_until([&] { return gone.load(std::memory_order_acquire) == n; });
          } else {
            check::wait_until([&] { return held.load(std::memory_order_acquire) == n; });
            Lock::Episode episode;
            if (by_try) check::wait_until([&] { return lock->try_acquire(episode); });
            else episode = lock->acquire();
            lock->release(episode);
            lock.reset();
            gone.store(n, std::memory_order_release);
          }
        }
      });
    }
  }
  return check::result();
}
