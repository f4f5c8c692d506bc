// SPDX-License-Identifier: Apache-2.0
// The child of a fork: its domain is empty, and it can construct and use a lock again for which other threads were
// waiting.
#include <fairlock/fairlock.hpp>
#include <fairlock/platform/fork.hpp>

#include <chrono>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "support/check.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

namespace {

using P = Native<>;

// Threads of this process use the lock. True: they excluded each other.
template <class M>
bool use(M& mutex) {
  unsigned count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (i % 3 == 0 && !mutex.try_lock_for(10s)) return;
        if (i % 3 != 0) mutex.lock();
        ++count;
        mutex.unlock();
      }
    });
  for (auto& thread : threads) thread.join();
  return count == 600;
}

template <class M>
bool in_child(M& mutex) {
  after_fork_in_child<P>();
  new (&mutex) M;
  if (!use(mutex)) return false;
  mutex.lock();  // and once more after a waiter has given up
  std::thread impatient([&] {
    if (mutex.try_lock_for(1ms)) std::_Exit(3);
  });
  impatient.join();
  mutex.unlock();
  return use(mutex);
}

template <class M>
void test(const char* name) {
  check::step(std::string(name));
  M mutex;
  mutex.lock();
  std::vector<std::thread> waiters;
  for (int t = 0; t < 3; ++t)
    waiters.emplace_back([&, t] {
      if (t == 1) CHECK(!mutex.try_lock_for(5ms));  // leaves an entry in the table
      else if (mutex.lock(); true) mutex.unlock();
    });
  std::this_thread::sleep_for(50ms);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::_Exit(in_child(mutex) ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  mutex.unlock();
  for (auto& waiter : waiters) waiter.join();
  CHECK(use(mutex));
}

}  // namespace

int main(int argc, char** argv) {
#ifdef FAIRLOCK_TSAN
  const bool allowed = false;
#else
  const bool allowed = std::getenv("FAIRLOCK_TEST_EMULATED") == nullptr;
#endif
  if (!allowed) {
    std::puts("neither ThreadSanitizer nor qemu allows threads in the child of a process with several threads");
    return check::skipped;
  }
  check::start(argc, argv);
  test<timed_mutex<"ticket">>("ticket");
  test<timed_mutex<"twa">>("twa");
  test<timed_mutex<"hapax">>("hapax");
  test<timed_mutex<"hapax-vw">>("hapax-vw");
  test<timed_mutex<"fair">>("fair");
  test<timed_mutex<"capacitor-ticket">>("capacitor-ticket");
  return check::result();
}
