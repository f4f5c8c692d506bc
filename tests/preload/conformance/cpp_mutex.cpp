// What libstdc++ makes of a mutex: it calls neither init nor destroy for std::mutex.
#include "test.h"

#include <mutex>
#include <thread>
#include <vector>

TEST(cpp_mutex_excludes, "std::mutex lets one thread in at a time") {
  std::mutex mutex;
  long count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn != 500; ++turn) {
        const std::lock_guard held(mutex);
        const long before = count;
        if (turn % 50 == 0) std::this_thread::yield();
        count = before + 1;
      }
    });
  for (auto& thread : threads) thread.join();
  EQUAL(count, 2000);
}
