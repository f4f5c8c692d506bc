// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion and progress: every lock and variation with 2, 4 and 16 threads, with the episode in the lock body
// (Mutex) and on the stack (Guard, with).
#include <numeric>

#include "support/any_lock.hpp"
#include "support/replay.hpp"

namespace {

struct Load {
  unsigned threads, episodes;
};

template <class Enter>
void stress(Load load, Enter enter) {
  Replay replay;
  std::vector<std::uint64_t> tally(load.threads);
  check::together(load.threads, [&](unsigned i) {
    Private own(i);
    std::uint64_t steps = 0;
    for (unsigned n = check::rounds(load.episodes); n > 0; --n) {
      enter(n, [&] {
        replay.advance();
        ++steps;
      });
      own.work();
    }
    tally[i] = steps;
  });
  CHECK(replay.agrees(std::accumulate(tally.begin(), tally.end(), std::uint64_t{0})));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  for (const AnyLock& kind : every_lock()) {
    for (const Load load : {Load{2, 3000}, Load{4, 500}, Load{16, 40}}) {
      if (!kind.suits(load.threads)) continue;
      const auto threads = std::to_string(load.threads) + " threads";
      {
        check::step(kind.name, threads, "Mutex");
        Lockable mutex(kind);
        stress(load, [&](unsigned, auto body) {
          mutex.lock();
          body();
          mutex.unlock();
        });
      }
      {
        check::step(kind.name, threads, "Guard and with");
        Lock lock(kind);
        stress(load, [&](unsigned n, auto body) {
          if (n % 2 == 0) lock.guard(body);
          else lock.with(body);
        });
        CHECK(!lock.locked());
      }
    }
  }
  return check::result();
}
