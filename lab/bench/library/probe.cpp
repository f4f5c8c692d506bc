// SPDX-License-Identifier: Apache-2.0
// fairlock_bench_probe prints how many mutexes an episode acquires, for the families whose lock is inside a library.
//
//   fairlock_bench_probe throw [--registered-frames] | atomic-exchange | leveldb LIBRARY FOLDER ENTRIES
//
// It defines pthread_mutex_lock. The libraries call this function as they would call a preloaded one, so the probe
// counts the mutexes that preloading can replace. It is a separate program because counting slows every mutex down.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "harness/errors.hpp"
#include "library/exceptions.hpp"
#include "library/five_integers.hpp"
#include "library/leveldb_api.hpp"

namespace {

constexpr unsigned warm_up = 100, episodes = 1000;

thread_local bool counting = false;
thread_local std::uint64_t counted = 0;

using Lock = int (*)(pthread_mutex_t*);

Lock next_lock() {
  static std::atomic<Lock> cached{nullptr};  // atomic, because a mutex around it would call this function again
  Lock lock = cached.load(std::memory_order_relaxed);
  if (lock == nullptr) {
    lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    cached.store(lock, std::memory_order_relaxed);
  }
  return lock;
}

// Runs the episode in a second thread, because a library may omit its locks while there is only one.
template <class F>
void print_mutexes_of(F&& episode) {
  std::thread([&] {
    for (unsigned i = 0; i < warm_up; ++i) episode();  // excludes the work that a library does only once
    counting = true;
    for (unsigned i = 0; i < episodes; ++i) episode();
    counting = false;
    std::printf("%g\n", static_cast<double>(counted) / episodes);
  }).join();
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (counting) ++counted;
  return next_lock()(mutex);
}

int main(int count, char** words) {
  const std::string_view family = count > 1 ? words[1] : "";
  if (family == "throw" && count <= 3) {
    if (count == 3) bench::register_frames();
    print_mutexes_of(bench::throw_and_catch);
#ifdef FAIRLOCK_BENCH_ATOMIC
  } else if (family == "atomic-exchange" && count == 2) {
    static bench::SharedFiveIntegers shared;
    bench::FiveIntegers own;
    print_mutexes_of([&] { own = shared.value.exchange(own); });
#endif
  } else if (family == "leveldb" && count == 5) {
    const bench::LevelDb database(words[2], words[3], bench::LevelDb::Open::existing);
    const auto entries = std::strtoull(words[4], nullptr, 10);
    print_mutexes_of([&, key = std::uint64_t{0}]() mutable { database.has(key += entries / (warm_up + episodes)); });
  } else {
    bench::refuse("probe: choose throw [--registered-frames], atomic-exchange, or leveldb LIBRARY FOLDER ENTRIES");
  }
}
