// SPDX-License-Identifier: Apache-2.0
// Thousands of threads start and end, and each uses every lock. Nothing leaks (AddressSanitizer checks that), small
// thread numbers are used again, and a thread may still use a lock while its thread-local objects are being destroyed.
#include <bit>
#include <list>

#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/replay.hpp"

namespace {

using fairlock::Native;

unsigned numbers_taken() {
  unsigned taken = 0;
  for (const auto& word : Native<>::domain().threads) taken += std::popcount(word.load(std::memory_order_acquire));
  return taken;
}

struct Used {
  explicit Used(const AnyLock& kind) : kind(kind), lock(kind) {}
  const AnyLock& kind;
  Lock lock;
  Replay replay;
};

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  std::list<Used> used;
  for (const AnyLock& kind : every_lock())
    if (kind.suits(4)) used.emplace_back(kind);  // a wave is 4 threads
  constexpr unsigned wave = 4;
  const unsigned before = numbers_taken();

  unsigned highest = 0;
  const unsigned waves = check::rounds(1000);
  for (unsigned n = 0; n < waves; ++n) {
    check::step("wave", std::to_string(n));
    std::atomic<unsigned> most{0};
    check::together(wave, [&](unsigned i) {
      const unsigned number = Native<>::self();
      CHECK(number < Native<>::max_threads && Native<>::self() == number);
      for (unsigned seen = most; seen < number && !most.compare_exchange_weak(seen, number);) {}
      // Half of the threads take the locks in the opposite order, so that they meet in the middle.
      const auto use = [](Used& u) { u.lock.with([&] { u.replay.advance(); }); };
      if (i % 2)
        for (auto& u : used) use(u);
      else
        for (auto u = used.rbegin(); u != used.rend(); ++u) use(*u);
    });
    highest = std::max(highest, most.load());
  }
  for (Used& u : used) {
    check::step("after the waves:", u.kind.name);
    CHECK(u.replay.agrees(std::uint64_t{wave} * waves));
    CHECK(!u.lock.locked());
  }
  check::step("numbers");
  CHECK(highest < before + wave);
  CHECK(numbers_taken() == before);

  // A thread-local object that is constructed before the thread first uses a lock is destroyed after the objects that
  // fairlock frees at thread exit.
  struct Last {
    std::list<Used>* used = nullptr;
    ~Last() {
      if (used == nullptr) return;
      Native<>::self();
      for (Used& u : *used) u.lock.with([&] { u.replay.advance(); });
    }
  };
  for (const bool all : {true, false}) {
    check::step("use at thread exit, after use of", all ? "every lock" : "one lock");
    for (unsigned n = check::rounds(100); n > 0; --n)
      check::together(wave, [&](unsigned) {
        static thread_local Last last;
        last.used = &used;
        for (Used& u : used)
          if (all || u.kind.name == "mcs") u.lock.with([&] { u.replay.advance(); });
      });
  }
  CHECK(numbers_taken() == before);
  return check::result();
}
