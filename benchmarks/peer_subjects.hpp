// The mutexes of other libraries as subjects, where those are installed.
#pragma once

#include "subjects.hpp"

#ifdef FAIRLOCK_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif
#ifdef FAIRLOCK_BENCH_NSYNC
#include <nsync_mu.h>
#endif
#ifdef FAIRLOCK_BENCH_BOOST
#include <boost/thread/mutex.hpp>
#endif
#ifdef FAIRLOCK_BENCH_TBB
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#endif

namespace bench {

#ifdef FAIRLOCK_BENCH_ABSL
struct AbslMutex {
  using Context = Nothing;
  absl::Mutex mutex;

  // Without NDEBUG, as Debian builds it, the library would look for deadlocks in every acquire.
  explicit AbslMutex(Size) { absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore); }

  template <class F>
  void episode(Context&, F&& body) {
    mutex.Lock();
    body();
    mutex.Unlock();
  }
};
#endif

#ifdef FAIRLOCK_BENCH_NSYNC
struct NsyncMutex {
  using Context = Nothing;
  nsync::nsync_mu mutex;

  explicit NsyncMutex(Size) { nsync::nsync_mu_init(&mutex); }

  template <class F>
  void episode(Context&, F&& body) {
    nsync::nsync_mu_lock(&mutex);
    body();
    nsync::nsync_mu_unlock(&mutex);
  }
};
#endif

#ifdef FAIRLOCK_BENCH_TBB
struct TbbQueuingMutex {
  using Context = Nothing;
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
