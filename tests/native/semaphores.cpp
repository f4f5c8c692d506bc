// SPDX-License-Identifier: Apache-2.0
// The semaphores never admit more threads than permits, lose no permit, and can release several permits at once.
#include <fairlock/fairlock.hpp>

#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/check.hpp"

using namespace fairlock;

namespace {

// As a mutex: MutexBench's replay check.
template <class S>
void replay(unsigned threads, unsigned rounds) {
  S semaphore(1);
  std::mt19937 shared;
  check::together(threads, [&](unsigned) {
    for (unsigned i = 0; i < rounds; ++i) {
      semaphore.acquire();
      shared.discard(1);
      semaphore.release();
    }
  });
  std::mt19937 again;
  again.discard(std::uint64_t{threads} * rounds);
  CHECK(shared == again);
  CHECK(semaphore.value() == 1);
}

// With several permits. Some of the threads only try.
template <class S>
void permits(unsigned threads, unsigned rounds, int most) {
  S semaphore(static_cast<std::uint64_t>(most));
  std::atomic<int> inside{0};
  std::atomic<bool> too_many{false};
  check::together(threads, [&](unsigned t) {
    for (unsigned i = 0; i < rounds; ++i) {
      if (t % 2 == 0) semaphore.acquire();
      else if (!semaphore.try_acquire()) continue;
      if (inside.fetch_add(1) >= most) too_many = true;
      inside.fetch_sub(1);
      semaphore.release();
    }
  });
  CHECK(!too_many);
  CHECK(semaphore.value() == most);
}

// One thread releases several permits at a time, and the others use up exactly as many.
template <class S>
void bunches(unsigned threads, unsigned rounds) {
  S semaphore(0);
  CHECK(!semaphore.try_acquire());
  check::together(threads + 1, [&](unsigned t) {
    if (t < threads) {
      for (unsigned i = 0; i < rounds; ++i) semaphore.acquire();
    } else {
      for (unsigned left = threads * rounds, bunch = 1; left > 0; bunch = bunch % 7 + 1) {
        const unsigned now = bunch < left ? bunch : left;
        semaphore.release(now);
        left -= now;
      }
    }
  });
  CHECK(semaphore.value() == 0);
}

template <class S>
void large() {
  S semaphore(0);
  semaphore.release(std::uint64_t{1} << 31);
  CHECK(semaphore.value() == std::int64_t{1} << 31);
  semaphore.acquire();
  CHECK(semaphore.try_acquire());
  CHECK(semaphore.value() == (std::int64_t{1} << 31) - 2);
}

template <class E, class S>
void test() {
  const auto rounds = check::rounds(4000);
  check::step(std::string(E::name));
  for (const unsigned threads : {1u, 2u, 4u}) replay<S>(threads, rounds);
  permits<S>(4, rounds, 1);
  permits<S>(4, rounds, 3);
  bunches<S>(3, rounds);
  large<S>();
}

// A semaphore by its catalogue name has all the names of std::counting_semaphore.
void standard() {
  using namespace std::chrono_literals;
  check::step("standard names");
  static_assert(std::is_base_of_v<TwaSemaphore<Native<>>, semaphore<"twa-semaphore">>);
  semaphore<"twa-semaphore"> semaphore(1);
  CHECK(semaphore.try_acquire_for(-1s));  // try once
  CHECK(!semaphore.try_acquire_for(1ms));
  CHECK(!semaphore.try_acquire_until(std::chrono::system_clock::now() + 1ms));
  semaphore.release();
  CHECK(semaphore.try_acquire_until(std::chrono::steady_clock::time_point::max()));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  standard();
  for_each_entry(Semaphores<Native<Yield>>{}, []<class E>() { test<E, typename E::Semaphore>(); });
  for_each_entry(SemaphoreVariations<Native<Yield>>{}, []<class E>() { test<E, typename E::Semaphore>(); });
  return check::result();
}
