// SPDX-License-Identifier: Apache-2.0
#include "c_api.hpp"

#include <fairlock/python.h>

#include "lock.hpp"
#include "module.hpp"
#include "semaphore.hpp"
#include "timeout.hpp"

namespace fairlock::python {

namespace {

bool has_supported_type(PyObject* object) {
  PyObject* const module = PyType_GetModuleByDef(Py_TYPE(object), &module_definition);
  if (module == nullptr) {
    PyErr_Clear();
    return false;
  }
  const ModuleState& state = *static_cast<ModuleState*>(PyModule_GetState(module));
  return PyObject_TypeCheck(object, state.lock) || PyObject_TypeCheck(object, state.rlock) ||
         PyObject_TypeCheck(object, state.semaphore);
}

bool expect_supported_type(PyObject* object) {
  if (has_supported_type(object)) return true;
  PyErr_Format(PyExc_TypeError, "expected a fairlock Lock, RLock, Semaphore or BoundedSemaphore, not %.100s",
               Py_TYPE(object)->tp_name);
  return false;
}

// Acquires an RLock once more if the calling thread owns it, and returns whether it did.
bool reenter(Primitive* self) {
  if (self->kind != Kind::rlock) return false;
  auto* const lock = static_cast<LockObject*>(self);
  if (!owned_by_me(lock)) return false;
  ++lock->count;
  return true;
}

void set_owner(Primitive* self) {
  if (self->kind != Kind::lock && self->kind != Kind::rlock) return;
  auto* const lock = static_cast<LockObject*>(self);
  lock->owner.store(this_thread(), std::memory_order_relaxed);
  lock->count = 1;
}

int acquire(PyObject* object, std::int64_t timeout) {
  if (!expect_supported_type(object)) return -1;
  auto* const self = as<Primitive>(object);
  if (reenter(self)) return 1;
  if (!self->algorithm->try_acquire(self->state)) {
    const auto outcome = wait_for(self, deadline_in_nanoseconds(timeout));
    if (outcome != Outcome::acquired) return static_cast<int>(outcome);
  }
  set_owner(self);
  return 1;
}

int acquire_detached(PyObject* object, std::int64_t timeout) {
  auto* const self = as<Primitive>(object);
  if (reenter(self)) return 1;
  if (self->algorithm->try_acquire(self->state)) {
    set_owner(self);
    return 1;
  }
  if (timeout == 0) return 0;
  // If there is no memory for the counts and the statistics, the thread waits uncounted.
  ContentionState* const contention = contention_of(self);
  InterruptibleWait wait(object, contention == nullptr ? nullptr : &contention->waiters,
                         deadline_in_nanoseconds(timeout));
  const bool acquired =
      contention == nullptr ? self->algorithm->acquire(self->state, wait) : wait_detached(self, *contention, wait);
  if (!acquired) return 0;
  set_owner(self);
  return 1;
}

int release_detached(PyObject* object) {
  auto* const self = as<Primitive>(object);
  if (self->kind == Kind::semaphore || self->kind == Kind::bounded_semaphore) return release_one_detached(self);
  auto* const lock = static_cast<LockObject*>(self);
  if (self->kind == Kind::rlock) {
    if (!owned_by_me(lock)) return 0;
    if (--lock->count != 0) return 1;
  }
  if (lock->owner.exchange(0, std::memory_order_relaxed) == 0) return 0;
  give_back(lock);
  return 1;
}

int release(PyObject* object) {
  if (!expect_supported_type(object)) return -1;
  const Kind kind = as<Primitive>(object)->kind;
  PyObject* const released = kind == Kind::lock    ? lock_release(object, nullptr)
                             : kind == Kind::rlock ? rlock_release(object, nullptr)
                                                   : release_one(object);
  Py_XDECREF(released);
  return released == nullptr ? -1 : 1;
}

const fairlock_api api{FAIRLOCK_API_VERSION,
                       [](PyObject* object) { return static_cast<int>(has_supported_type(object)); },
                       &acquire,
                       &release,
                       &acquire_detached,
                       &release_detached};

}  // namespace

PyObject* new_c_api() { return PyCapsule_New(const_cast<fairlock_api*>(&api), "fairlock._locks.c_api", nullptr); }

}  // namespace fairlock::python
