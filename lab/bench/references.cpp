// SPDX-License-Identifier: Apache-2.0
// The part of the roster that is not ours: what a program could use instead, no lock at all, and a broken lock.
#include <mutex>
#include <semaphore>

#include "peer_subjects.hpp"
#include "roster.hpp"
#include "system_subjects.hpp"

namespace bench {

void add_references(Roster& to) {
  add<Pthread<PTHREAD_PRIO_NONE>>(to, {"pthread-mutex", Kind::reference});
  add<Lockable<std::mutex>>(to, {"std-mutex", Kind::reference});
  add<Pthread<PTHREAD_PRIO_INHERIT>>(to, {"pthread-mutex-pi", Kind::reference});
  add<PosixSemaphore>(to, {.name = "sem_t", .kind = Kind::reference, .permits = true});
  add<Permits<std::counting_semaphore<>>>(to, {.name = "std-semaphore", .kind = Kind::reference, .permits = true});
#ifdef FAIRLOCK_BENCH_CK
  add<CkTicket>(to, {"ck-ticket", Kind::reference});
  add<CkMcs>(to, {"ck-mcs", Kind::reference});
  add<CkAnderson>(to, {"ck-anderson", Kind::reference});
  add<CkClh>(to, {"ck-clh", Kind::reference});
#endif
#ifdef FAIRLOCK_BENCH_ABSL
  add<AbslMutex>(to, {"absl", Kind::reference});
#endif
#ifdef FAIRLOCK_BENCH_NSYNC
  add<NsyncMutex>(to, {"nsync", Kind::reference});
#endif
#ifdef FAIRLOCK_BENCH_BOOST
  add<Lockable<boost::mutex>>(to, {"boost", Kind::reference});
#endif
#ifdef FAIRLOCK_BENCH_TBB
  add<Lockable<tbb::spin_mutex>>(to, {"tbb-spin", Kind::reference});
  add<TbbQueuingMutex>(to, {"tbb-queuing", Kind::reference});
#endif
  add<NoLock>(to, {.name = "nolock", .kind = Kind::reference, .excludes = false});
  add<NoLock>(to, {"broken", Kind::reference});
}

}  // namespace bench
