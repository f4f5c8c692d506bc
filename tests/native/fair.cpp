// The fair lock and the fair semaphore: threads that wait, that try and that leave, under every waiting policy; and nobody starves.
#include <fairlock/fairlock.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "support/check.hpp"

using namespace fairlock;

namespace {

static_assert(sizeof(lock<"fair">) == 16 && std::is_trivially_destructible_v<lock<"fair">>);
static_assert(TimedLock<lock<"fair">> && TryLock<lock<"fair">>);

Deadline in_microseconds(std::uint64_t n) { return {steady_now() + n * 1000}; }

// Some wait for ever, some leave in a hurry, some only try. The counter is not atomic: the lock protects it.
template <class P>
void mixed(unsigned threads, unsigned rounds) {
  FairLock<P, FairOptions{.quota = 3, .patience = 20'000}> lock{};
  std::uint64_t entered = 0;
  std::atomic<std::uint64_t> expected{0};
  check::together(threads, [&](unsigned t) {
    std::uint64_t mine = 0;
    for (unsigned i = 0; i < rounds; ++i) {
      const bool in = t % 4 == 0 ? lock.try_acquire().has_value()
                      : t % 4 == 1 ? lock.acquire_until(in_microseconds(i % 50)).has_value()
                                   : (lock.acquire(), true);
      if (!in) continue;
      ++entered;
      ++mine;
      lock.release({});
    }
    expected += mine;
  });
  CHECK(entered == expected);
  CHECK(!lock.locked());
  CHECK(lock.try_acquire().has_value());
  CHECK(!lock.acquire_until(Deadline{0}));
  CHECK(!lock.acquire_until(in_microseconds(100)));
  lock.release({});
}

// Permits come in bunches, and some who wait for them leave.
template <class P>
void bunches(unsigned threads, unsigned rounds) {
  FairSemaphore<P, FairSemaphoreOptions{.quota = 3, .patience = 20'000}> semaphore(2);
  std::atomic<int> inside{0};
  std::atomic<bool> too_many{false};
  check::together(threads, [&](unsigned t) {
    for (unsigned i = 0; i < rounds; ++i) {
      if (t % 2 == 0) semaphore.acquire();
      else if (!semaphore.acquire_until(in_microseconds(i % 50))) continue;
      if (inside.fetch_add(1) >= 2) too_many = true;
      inside.fetch_sub(1);
      if (i % 7 == 0 && semaphore.try_acquire()) semaphore.release(2);
      else semaphore.release();
    }
  });
  CHECK(!too_many);
  CHECK(semaphore.value() == 2);
}

// Whoever is the last to leave destroys the lock at once.
template <class P>
void destroy(unsigned rounds) {
  struct Shared {
    FairLock<P, FairOptions{.quota = 1, .patience = 0}> lock{};
    unsigned gone = 0;
  };
  for (unsigned i = 0; i < rounds; ++i) {
    auto* const shared = new Shared;
    check::together(4, [&](unsigned t) {
      if (t == 0 && !shared->lock.acquire_until(in_microseconds(i % 20))) shared->lock.acquire();
      else if (t != 0) shared->lock.acquire();
      const bool last = ++shared->gone == 4;
      shared->lock.release({});
      if (last) delete shared;
    });
  }
}

// A thread that keeps coming back does not keep the others out.
template <class P>
void nobody_starves() {
  FairLock<P> lock{};
  std::atomic<unsigned> served{0};
  check::together(3, [&](unsigned t) {
    if (t == 0) {
      while (served.load() < 2) {
        lock.acquire();
        lock.release({});
      }
    } else {
      for (int i = 0; i < 20; ++i) {
        lock.acquire();
        lock.release({});
      }
      ++served;
    }
  });
}

template <class W>
void test() {
  using P = Native<W>;
  const bool sleeps = W::sleeps;
  check::step("mixed", W::name);
  mixed<P>(sleeps ? 8 : 4, check::rounds(sleeps ? 5000 : 1000));
  check::step("bunches", W::name);
  bunches<P>(sleeps ? 8 : 4, check::rounds(sleeps ? 5000 : 1000));
  check::step("destroy", W::name);
  destroy<P>(check::rounds(sleeps ? 500 : 100));
  check::step("nobody starves", W::name);
  nobody_starves<P>();
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  test<SpinThenPark>();
  test<Park>();
  test<BasicPark<PortableParking>>();
  test<Yield>();
  return check::result();
}
