// SPDX-License-Identifier: Apache-2.0
#include <fairlock/fairlock.hpp>
#include <iostream>
#include <mutex>
#include <thread>

int main() {
  fairlock::mutex<"twa"> mutex;  // FIFO; any name of `fairlock list`
  long count = 0;
  auto work = [&] {
    for (int i = 0; i < 100'000; ++i) {
      std::scoped_lock guard(mutex);
      ++count;
    }
  };
  std::thread a(work), b(work);
  a.join(), b.join();
  std::cout << "counted to " << count << '\n';
}
