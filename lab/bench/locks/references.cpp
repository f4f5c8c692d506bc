// SPDX-License-Identifier: Apache-2.0
// The references of the roster: what a program could use instead of fairlock, no lock at all, and a broken lock.
#include <mutex>
#include <semaphore>

#include "locks/peer_mutexes.hpp"
#include "locks/roster.hpp"
#include "locks/system_locks.hpp"

namespace bench {

void add_references(Roster& roster) {
  add<Pthread<PTHREAD_PRIO_NONE>>(roster, {"pthread-mutex", Kind::reference});
  add<Lockable<std::mutex>>(roster, {"std-mutex", Kind::reference});
  add<Pthread<PTHREAD_PRIO_INHERIT>>(roster, {"pthread-mutex-pi", Kind::reference});
  add<PosixSemaphore>(roster, {.name = "sem_t", .kind = Kind::reference, .permits = true});
  add<Permits<std::counting_semaphore<>>>(roster, {.name = "std-semaphore", .kind = Kind::reference, .permits = true});
#if FAIRLOCK_BENCH_CK
  add<CkTicket>(roster, {"ck-ticket", Kind::reference});
  add<CkMcs>(roster, {"ck-mcs", Kind::reference});
  add<CkAnderson>(roster, {"ck-anderson", Kind::reference});
  add<CkClh>(roster, {"ck-clh", Kind::reference});
#endif
#if FAIRLOCK_BENCH_ABSL
  add<AbslMutex>(roster, {"absl", Kind::reference});
#endif
#if FAIRLOCK_BENCH_NSYNC
  add<NsyncMutex>(roster, {"nsync", Kind::reference});
#endif
#if FAIRLOCK_BENCH_BOOST
  add<Lockable<boost::mutex>>(roster, {"boost", Kind::reference});
#endif
#if FAIRLOCK_BENCH_TBB
  add<Lockable<tbb::spin_mutex>>(roster, {"tbb-spin", Kind::reference});
  add<TbbQueuingMutex>(roster, {"tbb-queuing", Kind::reference});
#endif
  add<NoLock>(roster, {.name = "nolock", .kind = Kind::reference, .excludes = false});
  add<NoLock>(roster, {"broken", Kind::reference});
}

}  // namespace bench
