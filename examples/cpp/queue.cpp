// SPDX-License-Identifier: Apache-2.0
// A bounded queue: producers wait while it is full, and consumers while it is empty. The oldest waiter goes first.
#include <cstddef>
#include <deque>
#include <fairlock/fairlock.hpp>
#include <iostream>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

template <class T, std::size_t capacity>
class Queue {
 public:
  void put(T item) {
    std::unique_lock held(mutex_);
    not_full_.wait(held, [&] { return items_.size() < capacity; });
    items_.push_back(std::move(item));
    not_empty_.notify_one();
  }

  T take() {
    std::unique_lock held(mutex_);
    not_empty_.wait(held, [&] { return !items_.empty(); });
    T item = std::move(items_.front());
    items_.pop_front();
    not_full_.notify_one();
    return item;
  }

 private:
  fairlock::mutex<"fair"> mutex_;
  fairlock::condition not_full_, not_empty_;
  std::deque<T> items_;
};

int main() {
  constexpr int threads = 4, items = 10'000;
  Queue<int, 8> queue;
  std::vector<long> sums(threads);
  {
    std::vector<std::jthread> crew;  // its destructor joins the threads
    for (int t = 0; t < threads; ++t) {
      crew.emplace_back([&] {
        for (int i = 1; i <= items; ++i) queue.put(i);
      });
      crew.emplace_back([&, t] {
        for (int i = 0; i < items; ++i) sums[t] += queue.take();
      });
    }
  }
  long total = 0;
  for (const long sum : sums) total += sum;
  const long expected = threads * items * (items + 1L) / 2;
  std::cout << threads << " consumers took items worth " << total << " of " << expected << '\n';
}
