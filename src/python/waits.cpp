#include "waits.hpp"

#include <mutex>

#include <fairlock/episode.hpp>
#include <fairlock/lock/tas.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/waiting/yield.hpp>

namespace fairlock::python {

namespace {

// The waits of one thread. Guarded, because whoever looks takes references to what is waited for, and those are sure to be
// valid only while the wait lasts.
struct Waiter {
  Waiter();
  ~Waiter();

  TasLock<Native<Yield>> guard{};
  Wait* innermost = nullptr;
  unsigned long thread = this_thread();
  Waiter *next = nullptr, *before = nullptr;
};

struct Waiters {
  std::mutex mutex;
  Waiter* first = nullptr;
};

// Never destroyed: daemon threads outlive everything. A union, because in the child of a fork it is made anew.
union Everyone {
  Waiters waiters;
  Everyone() : waiters() {}
  ~Everyone() {}
} everyone;

Waiter::Waiter() {
  const std::lock_guard held(everyone.waiters.mutex);
  next = everyone.waiters.first;
  if (next != nullptr) next->before = this;
  everyone.waiters.first = this;
}

Waiter::~Waiter() {
  const std::lock_guard held(everyone.waiters.mutex);
  if (next != nullptr) next->before = before;
  (before != nullptr ? before->next : everyone.waiters.first) = next;
}

Waiter& mine() {
  static thread_local Waiter waiter;
  return waiter;
}

}  // namespace

Wait::Wait(PyObject* waited_for, PyInterpreterState* whose)
    : object(waited_for), interpreter(whose), since(steady_now()), outer(mine().innermost) {
  Waiter& waiter = mine();
  const Guard held(waiter.guard);
  waiter.innermost = this;
}

Wait::~Wait() {
  Waiter& waiter = mine();
  const Guard held(waiter.guard);
  waiter.innermost = outer;
}

std::vector<WaitSeen> waits_now() {
  std::vector<WaitSeen> seen;
  const PyInterpreterState* const mine = PyInterpreterState_Get();
  const std::lock_guard held(everyone.waiters.mutex);
  for (Waiter* waiter = everyone.waiters.first; waiter != nullptr; waiter = waiter->next) {
    const Guard inside(waiter->guard);
    for (const Wait* wait = waiter->innermost; wait != nullptr; wait = wait->outer)
      if (wait->interpreter == mine) seen.push_back({waiter->thread, Py_NewRef(wait->object), wait->since});
  }
  return seen;
}

void forget_other_threads() {
  new (&everyone.waiters) Waiters;  // the mutex may have been held by a thread that is gone
  Waiter& waiter = mine();
  waiter.thread = this_thread();
  waiter.next = waiter.before = nullptr;
  everyone.waiters.first = &waiter;
}

}  // namespace fairlock::python
