// SPDX-License-Identifier: Apache-2.0
// Lock and RLock for the other types of the module. The caller is attached to the interpreter.
#pragma once

#include "primitive.hpp"

namespace fairlock::python {

struct LockObject : Primitive {
  std::atomic<unsigned long> owner;  // the ident of the thread that acquired it, or 0
  std::size_t count;                 // of an RLock: how often the owner holds it; written by the owner
};

inline bool try_take(LockObject* self) {
  if (self->algorithm == &fair_lock) [[likely]]
    return reinterpret_cast<FairMutex*>(self->room)->try_lock();
  return self->algorithm->try_acquire(self->state);
}

inline void give_back(LockObject* self) {
  if (self->algorithm == &fair_lock) [[likely]]
    return reinterpret_cast<FairMutex*>(self->room)->unlock();
  self->algorithm->release(self->state, 1);
}

// Takes the lock even if a signal handler raises: the result is then true, and the exception is set. False: there is no
// memory, and an exception is set.
inline bool take_unconditionally(LockObject* self) {
  if (!try_take(self) && !wait_unconditionally(self)) return false;
  self->owner.store(this_thread(), std::memory_order_relaxed);
  return true;
}

// Returns the former owner, or 0 if there was none. If two threads release the lock at once, exactly one of them must
// get an error.
inline unsigned long disown(LockObject* self) {
#ifdef Py_GIL_DISABLED
  return self->owner.exchange(0, std::memory_order_relaxed);
#else
  const auto owner = self->owner.load(std::memory_order_relaxed);
  self->owner.store(0, std::memory_order_relaxed);
  return owner;
#endif
}

// Methods of the types, for conditions over them.
PyObject* lock_enter(PyObject* lock, PyObject*);
PyObject* lock_release(PyObject* lock, PyObject*);
PyObject* rlock_enter(PyObject* lock, PyObject*);
PyObject* rlock_release(PyObject* lock, PyObject*);

// Agrees with release(): a new owner holds the lock only once it is attached again.
inline bool is_held(const LockObject* self) { return self->owner.load(std::memory_order_relaxed) != 0; }
inline bool owned_by_me(const LockObject* self) { return self->owner.load(std::memory_order_relaxed) == this_thread(); }

}  // namespace fairlock::python
