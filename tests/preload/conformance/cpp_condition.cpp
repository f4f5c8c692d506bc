// SPDX-License-Identifier: Apache-2.0
// The classes that libstdc++ builds from conditions, and its other ways to wait.
#include "test.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <list>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

template <class Condition, class Mutex>
static void passes_items() {
  Mutex mutex;
  Condition not_empty, not_full;
  std::list<int> queue;
  long sum = 0;
  const int many = static_cast<int>(turns(200));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 2; ++i)
      threads.emplace_back([&] {
        for (int item = 1; item <= many; ++item) {
          std::unique_lock held(mutex);
          not_full.wait(held, [&] { return queue.size() < 3; });
          queue.push_back(item);
          not_empty.notify_one();
        }
      });
    for (int i = 0; i != 2; ++i)
      threads.emplace_back([&] {
        for (int item = 1; item <= many; ++item) {
          std::unique_lock held(mutex);
          not_empty.wait(held, [&] { return !queue.empty(); });
          sum += queue.front();
          queue.pop_front();
          not_full.notify_one();
        }
      });
  }
  EQUAL(sum, static_cast<long>(many) * (many + 1));
}

TEST(cpp_condition, "std::condition_variable hands items from producers to consumers") {
  passes_items<std::condition_variable, std::mutex>();
}
TEST(cpp_condition_any, "std::condition_variable_any hands items on, with a std::mutex") {
  passes_items<std::condition_variable_any, std::mutex>();
}
TEST(cpp_condition_any_recursive, "std::condition_variable_any hands items on, with a std::recursive_mutex") {
  passes_items<std::condition_variable_any, std::recursive_mutex>();
}
TEST(cpp_condition_any_timed, "std::condition_variable_any hands items on, with a std::timed_mutex") {
  passes_items<std::condition_variable_any, std::timed_mutex>();
}
TEST(cpp_condition_any_shared,
     "std::condition_variable_any hands items on, with a std::shared_mutex, which is a read-write lock") {
  passes_items<std::condition_variable_any, std::shared_mutex>();
}

template <class Condition>
static void gives_up() {
  std::mutex mutex;
  Condition condition;
  std::unique_lock held(mutex);
  auto begin = Clock::now();
  while (condition.wait_for(held, 10ms) != std::cv_status::timeout) begin = Clock::now();  // a spurious wake-up
  CHECK(Clock::now() - begin >= 10ms);
  begin = Clock::now();
  CHECK(!condition.wait_until(held, begin + 10ms, [] { return false; }));
  CHECK(Clock::now() - begin >= 10ms);
  const auto then = std::chrono::system_clock::now() + 10ms;
  CHECK(!condition.wait_until(held, then, [] { return false; }));
  CHECK(std::chrono::system_clock::now() >= then);
  CHECK(condition.wait_for(held, 0s, [] { return true; }));
  CHECK(!condition.wait_for(held, -1s, [] { return false; }));
  CHECK(held.owns_lock());
}

TEST(cpp_condition_gives_up,
     "std::condition_variable: wait_for and wait_until wait until their limit, by either clock") {
  gives_up<std::condition_variable>();
}
TEST(cpp_condition_any_gives_up, "the same for std::condition_variable_any") {
  gives_up<std::condition_variable_any>();
}

template <class Condition>
static void wakes_all() {
  std::mutex mutex;
  Condition condition;
  bool open = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i != 6; ++i)
    threads.emplace_back([&, i] {
      std::unique_lock held(mutex);
      will_block();
      if (i % 3 == 0) condition.wait(held, [&] { return open; });
      else if (i % 3 == 1) CHECK(condition.wait_for(held, 60s, [&] { return open; }));
      else CHECK(condition.wait_until(held, std::chrono::system_clock::now() + 60s, [&] { return open; }));
    });
  until_blocked(6);
  {
    const std::lock_guard held(mutex);
    open = true;
  }
  condition.notify_all();
}

TEST(cpp_condition_all, "std::condition_variable::notify_all wakes all waiters, however they wait") {
  wakes_all<std::condition_variable>();
}
TEST(cpp_condition_any_all, "the same for std::condition_variable_any") { wakes_all<std::condition_variable_any>(); }

TEST(cpp_stop_token, "a stop request ends a wait on a std::condition_variable_any") {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::jthread thread([&](const std::stop_token& stop) {
    std::unique_lock held(mutex);
    will_block();
    CHECK(!condition.wait(held, stop, [] { return false; }));
    CHECK(held.owns_lock());
    CHECK(!condition.wait_for(held, stop, 60s, [] { return false; }));
  });
  until_blocked(1);
  thread.request_stop();
  thread.join();
  CHECK(mutex.try_lock());
}

TEST(cpp_stop_callback, "a stop callback may lock, and notify") {
  std::mutex mutex;
  std::condition_variable condition;
  bool stopped = false;
  std::jthread thread([&](const std::stop_token& stop) {
    const std::stop_callback callback(stop, [&] {
      const std::lock_guard held(mutex);
      stopped = true;
      condition.notify_one();
    });
    std::unique_lock held(mutex);
    will_block();
    condition.wait(held, [&] { return stopped; });
  });
  until_blocked(1);
  thread.request_stop();
}

TEST(cpp_notify_at_thread_exit, "std::notify_all_at_thread_exit unlocks and notifies when the thread has ended") {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  std::unique_lock held(mutex);
  std::jthread thread([&] {
    std::unique_lock inner(mutex);
    ready = true;
    std::notify_all_at_thread_exit(condition, std::move(inner));
  });
  condition.wait(held, [&] { return ready; });
}

TEST(cpp_condition_freed,
     "a std::condition_variable may be destroyed once all waiters are notified, even if some have not yet returned") {
  for (long i = 0; i != turns(40); ++i) {
    std::mutex mutex;
    bool open = false;
    auto* const condition = new std::condition_variable;
    std::jthread thread([&] {
      std::unique_lock held(mutex);
      condition->wait(held, [&] { return open; });
    });
    if (i % 2) std::this_thread::yield();
    mutex.lock();
    open = true;
    condition->notify_all();
    mutex.unlock();
    thread.join();
    delete condition;
  }
}

TEST(cpp_call_once, "std::call_once runs once, again after an exception, while others wait") {
  std::once_flag flag;
  std::mutex mutex;
  int calls = 0, completed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i)
      threads.emplace_back([&] {
        const auto attempt = [&] {
          const std::lock_guard held(mutex);
          std::this_thread::sleep_for(2ms);
          if (++calls == 1) throw std::runtime_error("on purpose");
          ++completed;
        };
        try {
          std::call_once(flag, attempt);
        } catch (const std::runtime_error&) { std::call_once(flag, attempt); }
        EQUAL(completed, 1);
      });
  }
  EQUAL(calls, 2);
}

TEST(cpp_static_local, "a static local variable is initialised once, by code that may lock") {
  static std::mutex mutex;
  static int made;
  std::vector<std::jthread> threads;
  for (int i = 0; i != 4; ++i)
    threads.emplace_back([] {
      static const int value = [] {
        const std::lock_guard held(mutex);
        std::this_thread::sleep_for(2ms);
        return ++made;
      }();
      EQUAL(value, 1);
    });
}

TEST(cpp_future, "promises, futures and std::async, whose results are protected by mutexes and conditions") {
  std::promise<int> promise;
  auto future = promise.get_future();
  CHECK(future.wait_for(2ms) == std::future_status::timeout);
  std::jthread thread([&] { promise.set_value(7); });
  EQUAL(future.get(), 7);
  std::vector<std::future<int>> results;
  for (int i = 0; i != 8; ++i) results.push_back(std::async(std::launch::async, [i] { return i * i; }));
  int sum = 0;
  for (auto& result : results) sum += result.get();
  EQUAL(sum, 140);
}

TEST(cpp_semaphore, "std::counting_semaphore and std::binary_semaphore, which use futexes, work beside mutexes") {
  std::counting_semaphore<3> permits(2);
  std::binary_semaphore once(0);
  std::mutex mutex;
  int inside = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i)
      threads.emplace_back([&] {
        for (long turn = 0; turn != turns(50); ++turn) {
          permits.acquire();
          {
            const std::lock_guard held(mutex);
            CHECK(++inside <= 2);
          }
          {
            const std::lock_guard held(mutex);
            --inside;
          }
          permits.release();
        }
      });
  }
  CHECK(!once.try_acquire_for(2ms));
  once.release();
  once.acquire();
}

TEST(cpp_latch_and_barrier, "std::latch and std::barrier work beside mutexes") {
  std::latch begun(4);
  std::mutex mutex;
  int count = 0, phases = 0;
  std::barrier barrier(4, [&]() noexcept { EQUAL(count, 4 * ++phases); });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i)
      threads.emplace_back([&] {
        begun.arrive_and_wait();
        for (int turn = 0; turn != 5; ++turn) {
          {
            const std::lock_guard held(mutex);
            ++count;
          }
          barrier.arrive_and_wait();
        }
      });
  }
  EQUAL(phases, 5);
}

TEST(cpp_atomic_wait, "waiting on a std::atomic works beside waiting on a condition") {
  std::atomic<int> turn = 0;
  std::jthread thread([&] {
    for (int i = 0; i != 10; ++i) {
      turn.wait(2 * i);
      turn = 2 * i + 2;
      turn.notify_one();
    }
  });
  for (int i = 0; i != 10; ++i) {
    turn = 2 * i + 1;
    turn.notify_one();
    turn.wait(2 * i + 1);
  }
}
