// SPDX-License-Identifier: Apache-2.0
// The classes that libstdc++ builds from mutexes. It calls neither init nor destroy for std::mutex.
#include "test.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Runs `work` in all workers at the same time.
static void let_all(const std::function<void(int)>& work, int workers = 4) {
  std::vector<std::jthread> threads;
  for (int i = 0; i != workers; ++i) threads.emplace_back(work, i);
}

template <class Mutex>
static void excludes() {
  Mutex mutex;
  long count = 0;
  const long each = turns(200);
  let_all([&](int) {
    for (long turn = 0; turn != each; ++turn) {
      const std::lock_guard held(mutex);
      const long before = count;
      if (turn % 16 == 0) std::this_thread::yield();
      count = before + 1;
    }
  });
  EQUAL(count, 4 * each);
}

TEST(cpp_mutex, "std::mutex lets one thread in at a time") { excludes<std::mutex>(); }
TEST(cpp_recursive_mutex, "std::recursive_mutex lets one thread in at a time") { excludes<std::recursive_mutex>(); }
TEST(cpp_timed_mutex, "std::timed_mutex lets one thread in at a time") { excludes<std::timed_mutex>(); }
TEST(cpp_recursive_timed_mutex, "std::recursive_timed_mutex lets one thread in at a time") {
  excludes<std::recursive_timed_mutex>();
}
TEST(cpp_shared_mutex, "std::shared_mutex, which is a read-write lock, lets one writer in at a time") {
  excludes<std::shared_mutex>();
}
TEST(cpp_shared_timed_mutex, "std::shared_timed_mutex lets one writer in at a time") {
  excludes<std::shared_timed_mutex>();
}

template <class Mutex>
static bool free_for_others(Mutex& mutex) {
  bool got = false;
  std::thread([&] {
    got = mutex.try_lock();
    if (got) mutex.unlock();
  }).join();
  return got;
}

template <class Mutex>
static void tries() {
  Mutex mutex;
  CHECK(free_for_others(mutex));
  CHECK(mutex.try_lock());
  CHECK(!free_for_others(mutex));
  mutex.unlock();
  CHECK(free_for_others(mutex));
}

TEST(cpp_try_mutex, "std::mutex::try_lock takes a free mutex, but not a mutex that another thread holds") {
  tries<std::mutex>();
}
TEST(cpp_try_recursive_mutex, "the same for std::recursive_mutex") { tries<std::recursive_mutex>(); }
TEST(cpp_try_timed_mutex, "the same for std::timed_mutex") { tries<std::timed_mutex>(); }
TEST(cpp_try_recursive_timed_mutex, "the same for std::recursive_timed_mutex") { tries<std::recursive_timed_mutex>(); }

template <class Mutex>
static void counts() {
  Mutex mutex;
  for (int i = 0; i != 5; ++i) mutex.lock();
  CHECK(mutex.try_lock());
  for (int i = 0; i != 5; ++i) mutex.unlock();
  CHECK(!free_for_others(mutex));
  mutex.unlock();
  CHECK(free_for_others(mutex));
}

TEST(cpp_recursive_counts, "std::recursive_mutex is free once it has been unlocked as often as it was locked") {
  counts<std::recursive_mutex>();
}
TEST(cpp_recursive_timed_counts, "the same for std::recursive_timed_mutex") { counts<std::recursive_timed_mutex>(); }

template <class Mutex>
static void gives_up() {
  Mutex mutex;
  const std::lock_guard held(mutex);
  std::jthread([&] {
    auto begin = Clock::now();
    CHECK(!mutex.try_lock_for(10ms));
    CHECK(Clock::now() - begin >= 10ms);
    begin = Clock::now();
    CHECK(!mutex.try_lock_until(begin + 10ms));
    CHECK(Clock::now() - begin >= 10ms);
    const auto then = std::chrono::system_clock::now() + 10ms;
    CHECK(!mutex.try_lock_until(then));
    CHECK(std::chrono::system_clock::now() >= then);
    CHECK(!mutex.try_lock_for(-1s));
    CHECK(!mutex.try_lock_for(0s));
  });
}

TEST(cpp_timed_gives_up,
     "std::timed_mutex: try_lock_for and try_lock_until wait until their limit, by either clock, and give up") {
  gives_up<std::timed_mutex>();
}
TEST(cpp_recursive_timed_gives_up, "the same for std::recursive_timed_mutex") {
  gives_up<std::recursive_timed_mutex>();
}

template <class Mutex>
static void gets_it() {
  Mutex mutex;
  mutex.lock();
  std::vector<std::jthread> threads;
  for (int i = 0; i != 2; ++i)
    threads.emplace_back([&, i] {
      will_block();
      CHECK(i ? mutex.try_lock_for(60s) : mutex.try_lock_until(std::chrono::system_clock::now() + 60s));
      mutex.unlock();
    });
  until_blocked(2);
  mutex.unlock();
}

TEST(cpp_timed_gets_it, "std::timed_mutex: try_lock_for and try_lock_until get a mutex that is unlocked in time") {
  gets_it<std::timed_mutex>();
}
TEST(cpp_recursive_timed_gets_it, "the same for std::recursive_timed_mutex") { gets_it<std::recursive_timed_mutex>(); }

TEST(cpp_lock_two, "std::lock takes two mutexes without a deadlock, in either order of its arguments") {
  std::mutex one, other;
  long count = 0;
  const long each = turns(200);
  let_all([&](int worker) {
    for (long turn = 0; turn != each; ++turn) {
      std::unique_lock first(worker % 2 ? one : other, std::defer_lock),
          second(worker % 2 ? other : one, std::defer_lock);
      std::lock(first, second);
      ++count;
    }
  });
  EQUAL(count, 4 * each);
}

TEST(cpp_scoped_lock, "std::scoped_lock takes mutexes of several kinds without a deadlock") {
  std::mutex plain;
  std::recursive_mutex recursive;
  std::timed_mutex timed;
  long count = 0;
  const long each = turns(100);
  let_all([&](int worker) {
    for (long turn = 0; turn != each; ++turn) {
      if (worker % 2) {
        const std::scoped_lock held(plain, recursive, timed);
        ++count;
      } else {
        const std::scoped_lock held(timed, plain, recursive);
        ++count;
      }
    }
  });
  EQUAL(count, 4 * each);
}

TEST(cpp_try_lock_two, "std::try_lock returns the index of the mutex that was taken, and leaves no mutex locked") {
  std::mutex one, other;
  other.lock();
  std::jthread([&] {
    EQUAL(std::try_lock(one, other), 1);
    CHECK(one.try_lock());
    one.unlock();
  }).join();
  other.unlock();
  EQUAL(std::try_lock(one, other), -1);
}

TEST(cpp_unique_lock, "std::unique_lock: deferred, tried, adopted, moved and released") {
  std::timed_mutex mutex;
  std::unique_lock held(mutex, std::defer_lock);
  CHECK(held.try_lock());
  CHECK(!free_for_others(mutex));
  std::unique_lock moved(std::move(held));
  moved.unlock();
  CHECK(moved.try_lock_for(1ms));
  moved.release();
  CHECK(!free_for_others(mutex));
  { const std::unique_lock adopted(mutex, std::adopt_lock); }
  CHECK(free_for_others(mutex));
}

TEST(cpp_exception, "an exception unlocks the mutexes of its guards") {
  std::mutex mutex;
  std::recursive_mutex recursive;
  for (int i = 0; i != 100; ++i) {
    try {
      const std::scoped_lock held(mutex, recursive);
      const std::lock_guard again(recursive);
      throw std::runtime_error("on purpose");
    } catch (const std::runtime_error&) {}
  }
  CHECK(free_for_others(mutex) && free_for_others(recursive));
}

static constinit std::mutex before_main;
static const bool locked_before_main = before_main.try_lock();

TEST(cpp_constinit, "a static std::mutex can be locked while statics are initialised, and unlocked in main") {
  CHECK(locked_before_main);
  CHECK(!free_for_others(before_main));
  before_main.unlock();
  CHECK(free_for_others(before_main));
}

TEST(cpp_native_handle, "the native handle of a std::mutex is a POSIX mutex") {
  std::mutex mutex;
  EQUAL(pthread_mutex_lock(mutex.native_handle()), 0);
  CHECK(!free_for_others(mutex));
  mutex.unlock();
  EQUAL(pthread_mutex_trylock(mutex.native_handle()), 0);
  EQUAL(pthread_mutex_unlock(mutex.native_handle()), 0);
}

TEST(cpp_freed, "the last of several threads may delete an object together with its mutex") {
  struct Object {
    std::mutex mutex;
    int users = 3;
  };
  for (long i = 0; i != turns(40); ++i) {
    auto* const object = new Object;
    let_all(
        [=](int) {
          object->mutex.lock();
          const bool last = --object->users == 0;
          object->mutex.unlock();
          if (last) delete object;
        },
        3);
  }
}

// --- destructors of thread_local objects ---

static std::mutex at_end;
static long ended;

struct LocksAtEnd {
  int used = 0;
  ~LocksAtEnd() {
    const std::lock_guard held(at_end);
    ++ended;
  }
};
static thread_local LocksAtEnd locks_at_end;

TEST(cpp_thread_local,
     "the destructor of a thread_local object may lock, in a thread that has locked and in one that has not") {
  let_all([](int worker) {
    if (worker % 2) const std::lock_guard held(at_end);
    locks_at_end.used = 1;
  });
  EQUAL(ended, 4);
}

struct UnlocksAtEnd {
  std::unique_lock<std::recursive_mutex> held;
};

TEST(cpp_thread_local_guard, "a thread_local guard unlocks at the end of its thread") {
  static std::recursive_mutex mutex;
  for (int i = 0; i != 10; ++i) {
    std::thread([] {
      static thread_local UnlocksAtEnd guard;
      guard.held = std::unique_lock(mutex);
    }).join();
    CHECK(free_for_others(mutex));
  }
}
