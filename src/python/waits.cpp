// SPDX-License-Identifier: Apache-2.0
#include "waits.hpp"

#include <algorithm>
#include <mutex>

#include <fairlock/episode.hpp>
#include <fairlock/lock/tas.hpp>
#include <fairlock/platform/native.hpp>
#include <fairlock/waiting/yield.hpp>

namespace fairlock::python {

namespace {

// The waits of one thread. Guarded, because whoever looks takes references to what is waited for, and those are sure to
// be valid only while the wait lasts.
struct Waiter {
  TasLock<Native<Yield>> guard{};
  Wait* innermost = nullptr;
  unsigned long thread = this_thread();
  Waiter *next = nullptr, *before = nullptr;
};

struct Waiters {
  std::mutex mutex;
  Waiter* first = nullptr;

  void link(Waiter& waiter) {
    waiter.next = first;
    if (first != nullptr) first->before = &waiter;
    first = &waiter;
  }
  void unlink(Waiter& waiter) {
    if (waiter.next != nullptr) waiter.next->before = waiter.before;
    (waiter.before != nullptr ? waiter.before->next : first) = waiter.next;
  }
};

// Never destroyed: daemon threads outlive everything.
union Everyone {
  Waiters waiters;
  Everyone() : waiters() {}
  ~Everyone() {}
} everyone;

struct Mine {
  Waiter* const waiter = new Waiter;
  Mine() {
    const std::lock_guard held(everyone.waiters.mutex);
    everyone.waiters.link(*waiter);
  }
  ~Mine() {
    const std::lock_guard held(everyone.waiters.mutex);
    everyone.waiters.unlink(*waiter);
    delete waiter;
  }
};

Waiter& mine() {
  static thread_local Mine mine;
  return *mine.waiter;
}

}  // namespace

Wait::Wait(PyObject* waited_for, PyInterpreterState* whose, bool stays)
    : object(waited_for), interpreter(whose), since(steady_now()), outer(mine().innermost), in_line(stays) {
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

std::vector<WaitedFor> forget_other_threads() {
  // Nobody else runs: no guards, which may have been held by those who are gone.
  Waiter& me = mine();
  std::vector<WaitedFor> objects;
  const auto mine_too = [&](const PyObject* object) {
    for (const Wait* wait = me.innermost; wait != nullptr; wait = wait->outer)
      if (wait->object == object && wait->in_line) return true;
    return false;
  };
  for (Waiter* waiter = everyone.waiters.first; waiter != nullptr;) {
    Waiter* const next = waiter->next;
    if (waiter != &me) {
      for (const Wait* wait = waiter->innermost; wait != nullptr; wait = wait->outer) {
        auto found = std::find_if(objects.begin(), objects.end(),
                                  [&](const WaitedFor& one) { return one.object == wait->object; });
        if (found == objects.end()) found = objects.insert(found, {wait->object, 0, mine_too(wait->object)});
        found->counted += wait->counted.load(std::memory_order_relaxed);
      }
      delete waiter;
    }
    waiter = next;
  }
  new (&everyone.waiters) Waiters;
  me.thread = this_thread();
  me.before = nullptr;
  everyone.waiters.link(me);
  return objects;
}

}  // namespace fairlock::python
