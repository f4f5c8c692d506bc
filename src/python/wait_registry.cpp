// SPDX-License-Identifier: Apache-2.0
#include "wait_registry.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include <fairlock/episode.hpp>
#include <fairlock/lock/tas.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/waiting/yield.hpp>

namespace fairlock::python {

namespace {

// The waits of one thread. The guard keeps a record alive while another thread takes a reference to its object, which
// is certain to exist only while the wait lasts.
struct ThreadWaits {
  TasLock<Native<Yield>> guard{};
  WaitRecord* innermost = nullptr;
  unsigned long thread = this_thread();
  ThreadWaits *next = nullptr, *previous = nullptr;
};

struct Registry {
  std::mutex mutex;
  ThreadWaits* first = nullptr;

  void link(ThreadWaits& waits) {
    waits.next = first;
    if (first != nullptr) first->previous = &waits;
    first = &waits;
  }
  void unlink(ThreadWaits& waits) {
    if (waits.next != nullptr) waits.next->previous = waits.previous;
    (waits.previous != nullptr ? waits.previous->next : first) = waits.next;
  }
};

// Never destroyed, because daemon threads outlive static objects.
union Immortal {
  Registry registry;
  Immortal() : registry() {}
  ~Immortal() {}
} immortal;

class Registration {
 public:
  Registration() {
    const std::lock_guard held(immortal.registry.mutex);
    immortal.registry.link(*waits);
  }
  ~Registration() {
    const std::lock_guard held(immortal.registry.mutex);
    immortal.registry.unlink(*waits);
    delete waits;
  }

  ThreadWaits* const waits = new ThreadWaits;
};

ThreadWaits& waits_of_this_thread() {
  static thread_local Registration registration;
  return *registration.waits;
}

}  // namespace

WaitRecord::WaitRecord(PyObject* awaited, std::atomic<std::uint32_t>* count, PyInterpreterState* of_object,
                       Handlers where)
    : object(awaited),
      waiters(count),
      interpreter(of_object),
      since(steady_now()),
      outer(waits_of_this_thread().innermost),
      handlers(where) {
  ThreadWaits& waits = waits_of_this_thread();
  {
    const Guard held(waits.guard);
    waits.innermost = this;
  }
  // After the link: current_waits() lists every thread that is counted.
  if (waiters != nullptr) waiters->fetch_add(1, std::memory_order_release);
}

WaitRecord::~WaitRecord() {
  if (waiters != nullptr) waiters->fetch_sub(1, std::memory_order_relaxed);
  ThreadWaits& waits = waits_of_this_thread();
  const Guard held(waits.guard);
  waits.innermost = outer;
}

std::vector<CurrentWait> current_waits() {
  std::vector<CurrentWait> waits;
  const PyInterpreterState* const interpreter = PyInterpreterState_Get();
  const std::lock_guard held(immortal.registry.mutex);
  for (ThreadWaits* each = immortal.registry.first; each != nullptr; each = each->next) {
    const Guard inside(each->guard);
    for (const WaitRecord* record = each->innermost; record != nullptr; record = record->outer)
      if (record->interpreter == interpreter) waits.push_back({each->thread, Py_NewRef(record->object), record->since});
  }
  return waits;
}

std::vector<LostWaits> drop_waits_of_vanished_threads() {
  // No other thread runs, so this needs no guard. But a vanished thread may have held the mutex, and the calling thread
  // locks the mutex if it registers now. So the registry starts afresh.
  ThreadWaits* const first = immortal.registry.first;
  new (&immortal.registry) Registry;
  ThreadWaits& own = waits_of_this_thread();
  std::vector<LostWaits> lost;
  for (ThreadWaits* each = first; each != nullptr;) {
    ThreadWaits* const next = each->next;
    for (const WaitRecord* record = each->innermost; record != nullptr; record = record->outer) {
      if (record->waiters != nullptr) record->waiters->store(0, std::memory_order_relaxed);
      if (each == &own) continue;
      const auto same = [&](const LostWaits& waits) { return waits.object == record->object; };
      auto entry = std::find_if(lost.begin(), lost.end(), same);
      if (entry == lost.end()) entry = lost.insert(entry, {record->object, 0});
      entry->permits_claimed += record->claims_permit.load(std::memory_order_relaxed);
    }
    if (each != &own) delete each;
    each = next;
  }
  for (const WaitRecord* record = own.innermost; record != nullptr; record = record->outer)
    if (record->waiters != nullptr) record->waiters->fetch_add(1, std::memory_order_relaxed);
  new (&immortal.registry) Registry;
  new (&own.guard) TasLock<Native<Yield>>{};  // a vanished thread may have held it, in current_waits()
  own.thread = this_thread();
  own.previous = nullptr;
  immortal.registry.link(own);
  return lost;
}

std::vector<void*> own_places(const PyObject* condition) {
  std::vector<void*> places;
  for (const WaitRecord* record = waits_of_this_thread().innermost; record != nullptr; record = record->outer)
    if (record->object == condition && record->place != nullptr) places.push_back(record->place);
  std::reverse(places.begin(), places.end());
  return places;
}

}  // namespace fairlock::python
