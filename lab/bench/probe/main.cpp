// SPDX-License-Identifier: Apache-2.0
// fairlock_bench_probe: how many mutexes one episode takes, of those whose lock is inside a library. Prints a number.
//
//   fairlock_bench_probe throw [--registered-frames] | atomic-exchange | leveldb LIBRARY FOLDER ENTRIES
//
// It has a pthread_mutex_lock of its own, which the libraries then call, as they would call a preloaded one; so what is
// counted is what preloading can replace. A program of its own, because every mutex in it is slower for that.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "../exchange.hpp"
#include "../level_db.hpp"
#include "../throw.hpp"

namespace {

constexpr unsigned warm_up = 100, episodes = 1000;

thread_local bool counting = false;
thread_local std::uint64_t counted = 0;

using Lock = int (*)(pthread_mutex_t*);

Lock next_lock() {
  static std::atomic<Lock> found{nullptr};  // no lock around this one: it would be taken by itself
  Lock lock = found.load(std::memory_order_relaxed);
  if (lock == nullptr) {
    lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    found.store(lock, std::memory_order_relaxed);
  }
  return lock;
}

// In a second thread, because a library may leave its locks out as long as there is only one.
template <class F>
void print_mutexes_of(F&& episode) {
  std::thread([&] {
    for (unsigned i = 0; i < warm_up; ++i) episode();  // what is done only once is done now
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
    static bench::Exchanged shared;
    bench::Five mine;
    print_mutexes_of([&] { mine = shared.five.exchange(mine); });
#endif
  } else if (family == "leveldb" && count == 5) {
    const bench::LevelDb database(words[2], words[3], bench::LevelDb::Open::existing);
    const auto entries = std::strtoull(words[4], nullptr, 10);
    print_mutexes_of([&, key = std::uint64_t{0}]() mutable { database.has(key += entries / (warm_up + episodes)); });
  } else {
    bench::refuse("probe: throw [--registered-frames], atomic-exchange, or leveldb LIBRARY FOLDER ENTRIES");
  }
}
