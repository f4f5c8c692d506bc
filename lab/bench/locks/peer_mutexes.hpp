// SPDX-License-Identifier: Apache-2.0
// Adapters for the mutexes of other libraries, where those are installed.
#pragma once

#include "harness/errors.hpp"
#include "harness/placement.hpp"
#include "locks/adapters.hpp"

#if FAIRLOCK_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif
#if FAIRLOCK_BENCH_NSYNC
#include <dlfcn.h>
#include <nsync_mu.h>
#endif
#if FAIRLOCK_BENCH_BOOST
#include <boost/thread/mutex.hpp>
#endif
#if FAIRLOCK_BENCH_TBB
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#endif

namespace bench {

#if FAIRLOCK_BENCH_ABSL
struct AbslMutex {
  using Context = NoContext;
  absl::Mutex mutex;

  // Debian builds the library without NDEBUG, so by default every acquire looks for deadlocks.
  explicit AbslMutex(Size) { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

  template <class F>
  void episode(Context&, F&& body) {
    mutex.Lock();
    body();
    mutex.Unlock();
  }
};
#endif

#if FAIRLOCK_BENCH_NSYNC
// The functions of nsync's C library that the mutex needs.
struct NsyncLibrary {
  using Function = void (*)(nsync::nsync_mu*);
  Function init = nullptr, lock = nullptr, unlock = nullptr;

  void load() {
    void* const library = dlopen("libnsync.so.1", RTLD_NOW);
    if (library == nullptr) refuse("nsync: cannot load libnsync.so.1: apt-get install libnsync-dev");
    const auto find = [&](const char* name) { return reinterpret_cast<Function>(dlsym(library, name)); };
    init = find("nsync_mu_init"), lock = find("nsync_mu_lock"), unlock = find("nsync_mu_unlock");
    if (init == nullptr || lock == nullptr || unlock == nullptr) refuse("nsync: libnsync.so.1 has no nsync_mu");
  }
};
alignas(sector) inline NsyncLibrary nsync_library;  // not on the cache line of the mutex, which moves between threads

struct NsyncMutex {
  using Context = NoContext;
  nsync::nsync_mu mutex;

  explicit NsyncMutex(Size) {
    nsync_library.load();
    nsync_library.init(&mutex);
  }

  template <class F>
  void episode(Context&, F&& body) {
    nsync_library.lock(&mutex);
    body();
    nsync_library.unlock(&mutex);
  }
};
#endif

#if FAIRLOCK_BENCH_TBB
struct TbbQueuingMutex {
  using Context = NoContext;
  tbb::queuing_mutex mutex;

  explicit TbbQueuingMutex(Size) {}

  template <class F>
  void episode(Context&, F&& body) {
    tbb::queuing_mutex::scoped_lock guard(mutex);  // its queue node is on the stack
    body();
  }
};
#endif

}  // namespace bench
