// SPDX-License-Identifier: Apache-2.0
#include <fairlock/fairlock.hpp>
#include <iostream>
#include <thread>

int main() {
  fairlock::lock<"twa"> lock;  // first come, first served; any name of `fairlock list`
  long count = 0;
  auto work = [&] {
    for (int i = 0; i < 100'000; ++i) fairlock::with(lock, [&] { ++count; });
  };
  std::thread a(work), b(work);
  a.join(), b.join();
  std::cout << "counted to " << count << '\n';
}
