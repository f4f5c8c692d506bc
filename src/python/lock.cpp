// SPDX-License-Identifier: Apache-2.0
#include "lock.hpp"

#include "module.hpp"
#include "timeout.hpp"

namespace fairlock::python {

namespace {

LockObject* lock_of(PyObject* object) { return as<LockObject>(object); }

PyObject* release_unlocked() {
  PyErr_SetString(PyExc_RuntimeError, "release unlocked lock: call acquire() before each release()");
  return nullptr;
}

PyObject* release_of_non_owner() {
  PyErr_SetString(PyExc_RuntimeError,
                  "cannot release un-acquired lock: only the thread that holds an RLock may release it");
  return nullptr;
}

// After an attempt that failed.
[[gnu::noinline]] PyObject* wait_and_own(LockObject* self, std::uint64_t deadline) {
  switch (wait_for(self, deadline)) {
    case Outcome::error: return nullptr;
    case Outcome::timed_out: Py_RETURN_FALSE;
    case Outcome::acquired: break;
  }
  self->owner.store(this_thread(), std::memory_order_relaxed);
  self->count = 1;
  Py_RETURN_TRUE;
}

PyObject* new_lock(PyTypeObject* type, PyObject*, PyObject*) { return create(type, Kind::lock, fair_lock, Knobs{}); }
PyObject* new_rlock(PyTypeObject* type, PyObject*, PyObject*) { return create(type, Kind::rlock, fair_lock, Knobs{}); }

int init_lock(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"algorithm", "waiting", "platoon", "skip", nullptr};
  Choice choice;
  const char* const format = lock_of(object)->kind == Kind::rlock ? "|O$OOO:RLock" : "|O$OOO:Lock";
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, const_cast<char**>(names), &choice.algorithm, &choice.waiting,
                                   &choice.platoon, &choice.skip))
    return -1;
  Knobs knobs;
  const Algorithm* const algorithm = choose(choice, &lock_algorithm, fair_lock, knobs);
  return algorithm != nullptr && initialize(lock_of(object), *algorithm, knobs) ? 0 : -1;
}

// --- Lock ---

PyObject* lock_acquire_blocking(LockObject* self) {
  if (!try_take(self)) [[unlikely]]
    return wait_and_own(self, never);
  self->owner.store(this_thread(), std::memory_order_relaxed);
  Py_RETURN_TRUE;
}

PyObject* lock_acquire(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  LockObject* const self = lock_of(object);
  if (no_arguments(count, names)) return lock_acquire_blocking(self);
  const auto deadline = lock_deadline(args, count, names);
  if (!deadline) return nullptr;
  if (!try_take(self)) return wait_and_own(self, *deadline);
  self->owner.store(this_thread(), std::memory_order_relaxed);
  Py_RETURN_TRUE;
}

}  // namespace

PyObject* lock_enter(PyObject* object, PyObject*) { return lock_acquire_blocking(lock_of(object)); }

PyObject* lock_release(PyObject* object, PyObject*) {
  LockObject* const self = lock_of(object);
  if (disown(self) == 0) [[unlikely]]
    return release_unlocked();
  give_back(self);
  Py_RETURN_NONE;
}

namespace {

PyObject* lock_exit(PyObject* object, PyObject* const*, Py_ssize_t) { return lock_release(object, nullptr); }

PyObject* lock_locked(PyObject* object, PyObject*) { return PyBool_FromLong(is_held(lock_of(object))); }

PyObject* lock_repr(PyObject* object) {
  return PyUnicode_FromFormat("<%s %s object at %p>", is_held(lock_of(object)) ? "locked" : "unlocked",
                              Py_TYPE(object)->tp_name, object);
}

PyObject* lock_at_fork_reinit(PyObject* object, PyObject*) {
  LockObject* const self = lock_of(object);
  reset(self, 1);
  self->owner.store(0, std::memory_order_relaxed);
  self->count = 0;
  Py_RETURN_NONE;
}

PyObject* get_owner(PyObject* object, void*) {
  const auto owner = lock_of(object)->owner.load(std::memory_order_relaxed);
  if (owner == 0) Py_RETURN_NONE;
  return PyLong_FromUnsignedLong(owner);
}

// The part of the docstring of acquire() that both types share.
#define FAIRLOCK_TIMEOUT_DOC                                                                           \
  "timeout is in seconds; -1 waits without a limit, and 0 tries once, like blocking=False. A waiter\n" \
  "with a timeout takes its place in line like any other. A signal handler that raises (Ctrl-C)\n"     \
  "ends the wait of the main thread, and the lock is not taken.\n\n"                                   \
  "Raises ValueError for another negative timeout and for a timeout with blocking=False,\n"            \
  "OverflowError for a timeout above TIMEOUT_MAX."

PyDoc_STRVAR(lock_acquire_doc,
             "acquire($self, /, blocking=True, timeout=-1)\n--\n\n"
             "Acquire the lock. Return True, or False if the timeout expires first.\n\n"
             "A thread that acquires a Lock it already holds deadlocks; an RLock allows it.\n\n" FAIRLOCK_TIMEOUT_DOC);
PyDoc_STRVAR(lock_release_doc,
             "release($self, /)\n--\n\n"
             "Release the lock. Never blocks.\n\n"
             "Any thread may call it, even one that did not acquire the lock. Raises RuntimeError if the lock\n"
             "is not held.");
PyDoc_STRVAR(rlock_acquire_doc,
             "acquire($self, /, blocking=True, timeout=-1)\n--\n\n"
             "Acquire the lock. Return True, or False if the timeout expires first.\n\n"
             "A thread that already holds the lock acquires it once more, without waiting.\n\n" FAIRLOCK_TIMEOUT_DOC);
PyDoc_STRVAR(rlock_release_doc,
             "release($self, /)\n--\n\n"
             "Undo one acquire(). When all are undone, the lock is free. Never blocks.\n\n"
             "Raises RuntimeError if the calling thread does not hold the lock.");
PyDoc_STRVAR(locked_doc, "locked($self, /)\n--\n\nReturn whether a thread holds the lock now.");
PyDoc_STRVAR(lock_doc,
             "Lock(algorithm='fair', *, waiting='spin-then-park', platoon=10, skip=0.0)\n--\n\n"
             "A mutual exclusion lock that starves no thread, with the interface of threading.Lock.\n\n"
             "Any thread may release it. A thread that acquires it twice deadlocks: use an RLock for that.\n\n"
             "algorithm is a name from the catalogue. Under 'fair', a thread that finds the lock free takes it,\n"
             "like an ordinary lock. While threads keep the lock busy, newcomers pass the first waiter at most\n"
             "512 times, and for about 125 microseconds. Otherwise the lock wakes several waiters, so that every\n"
             "processor has work. 'ticket', 'twa', 'hapax' and 'hapax-vw' are strictly first come, first served.\n"
             "An unknown name raises ValueError with a list of all names.\n\n"
             "waiting is the policy of the waiters: 'spin-then-park' spins briefly and then sleeps, 'park' sleeps\n"
             "at once, and 'yield', 'monitor' and 'spin' never sleep. platoon and skip are for the capacitors,\n"
             "such as 'capacitor-tts': see Capacitor.\n\n"
             "In the child of a fork, no thread waits. The forking thread still holds the locks that it held. A\n"
             "lock that another thread held stays locked, because its owner is gone.\n\n"
             "An acquire that does not wait costs no more than with threading.Lock: `fairlock bench python`\n"
             "measures both. A thread that waits releases the GIL.");

#define FAIRLOCK_METHODS(PREFIX)                                                                                     \
  {"acquire", method(&PREFIX##_acquire), METH_FASTCALL | METH_KEYWORDS, PREFIX##_acquire_doc},                       \
      {"release", &PREFIX##_release, METH_NOARGS, PREFIX##_release_doc},                                             \
      {"locked", &PREFIX##_locked, METH_NOARGS, locked_doc}, {"__enter__", &PREFIX##_enter, METH_NOARGS, enter_doc}, \
      {"__exit__", method(&PREFIX##_exit), METH_FASTCALL, exit_doc},                                                 \
      {"statistics", &primitive_statistics, METH_NOARGS, statistics_doc},                                            \
      {"_at_fork_reinit", &lock_at_fork_reinit, METH_NOARGS, nullptr}, {                                             \
    "__reduce__", &refuse_to_pickle, METH_NOARGS, nullptr                                                            \
  }

PyMethodDef lock_methods[] = {
    FAIRLOCK_METHODS(lock),
    {"acquire_lock", method(&lock_acquire), METH_FASTCALL | METH_KEYWORDS,
     "acquire_lock($self, /, blocking=True, timeout=-1)\n--\n\nThe old name of acquire()."},
    {"release_lock", &lock_release, METH_NOARGS, "release_lock($self, /)\n--\n\nThe old name of release()."},
    {"locked_lock", &lock_locked, METH_NOARGS, "locked_lock($self, /)\n--\n\nThe old name of locked()."},
    {},
};

PyGetSetDef lock_getters[] = {
    {"algorithm", &get_algorithm, nullptr, algorithm_doc, nullptr},
    {"policy", &get_policy, nullptr, policy_doc, nullptr},
    {"waiters", &get_waiters, nullptr, "The number of threads that wait for the lock now.", nullptr},
    {"waiting", &refuse_waiting, nullptr, waiting_doc, nullptr},
    {"owner", &get_owner, nullptr, "The ident of the thread that acquired the lock (threading.get_ident()), or None.",
     nullptr},
    {},
};

PyType_Slot lock_slots[] = {
    {Py_tp_doc, const_cast<char*>(lock_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&new_lock)},
    {Py_tp_init, reinterpret_cast<void*>(&init_lock)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&primitive_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(&primitive_traverse)},
    {Py_tp_repr, reinterpret_cast<void*>(&lock_repr)},
    {Py_tp_methods, lock_methods},
    {Py_tp_getset, lock_getters},
    {Py_tp_members, primitive_members},
    {0, nullptr},
};

// --- RLock ---

PyObject* rlock_acquire_until(LockObject* self, std::uint64_t deadline) {
  const auto me = this_thread();
  if (self->owner.load(std::memory_order_relaxed) == me) {
    if (self->count == static_cast<std::size_t>(-1)) {
      PyErr_SetString(PyExc_OverflowError,
                      "Internal lock count overflowed: the lock was acquired too often without a release");
      return nullptr;
    }
    ++self->count;
    Py_RETURN_TRUE;
  }
  if (!try_take(self)) [[unlikely]]
    return wait_and_own(self, deadline);
  self->owner.store(me, std::memory_order_relaxed);
  self->count = 1;
  Py_RETURN_TRUE;
}

PyObject* rlock_acquire(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (no_arguments(count, names)) return rlock_acquire_until(lock_of(object), never);
  const auto deadline = lock_deadline(args, count, names);
  return deadline ? rlock_acquire_until(lock_of(object), *deadline) : nullptr;
}

}  // namespace

PyObject* rlock_enter(PyObject* object, PyObject*) { return rlock_acquire_until(lock_of(object), never); }

PyObject* rlock_release(PyObject* object, PyObject*) {
  LockObject* const self = lock_of(object);
  if (!owned_by_me(self)) [[unlikely]]
    return release_of_non_owner();
  if (--self->count == 0) {
    self->owner.store(0, std::memory_order_relaxed);
    give_back(self);
  }
  Py_RETURN_NONE;
}

namespace {

PyObject* rlock_exit(PyObject* object, PyObject* const*, Py_ssize_t) { return rlock_release(object, nullptr); }
PyObject* rlock_locked(PyObject* object, PyObject*) { return lock_locked(object, nullptr); }

PyObject* rlock_repr(PyObject* object) {
  LockObject* const self = lock_of(object);
  const auto owner = self->owner.load(std::memory_order_relaxed);
  return PyUnicode_FromFormat("<%s %s object owner=%lu count=%zu at %p>", owner != 0 ? "locked" : "unlocked",
                              Py_TYPE(object)->tp_name, owner, owner != 0 ? self->count : 0, object);
}

PyObject* rlock_is_owned(PyObject* object, PyObject*) { return PyBool_FromLong(owned_by_me(lock_of(object))); }

PyObject* rlock_recursion_count(PyObject* object, PyObject*) {
  return PyLong_FromSize_t(owned_by_me(lock_of(object)) ? lock_of(object)->count : 0);
}

PyObject* rlock_release_save(PyObject* object, PyObject*) {
  LockObject* const self = lock_of(object);
  if (!owned_by_me(self)) return release_of_non_owner();
  const auto count = std::exchange(self->count, 0);
  const auto owner = disown(self);
  give_back(self);
  return Py_BuildValue("(nk)", static_cast<Py_ssize_t>(count), owner);
}

PyObject* rlock_acquire_restore(PyObject* object, PyObject* saved) {
  LockObject* const self = lock_of(object);
  Py_ssize_t count;
  unsigned long owner;
  if (!PyTuple_Check(saved) || !PyArg_ParseTuple(saved, "nk:_acquire_restore", &count, &owner) || count < 1) {
    if (PyErr_Occurred() == nullptr)
      PyErr_SetString(PyExc_TypeError, "_acquire_restore() takes the value that _release_save() returned");
    return nullptr;
  }
  if (!take_unconditionally(self)) return nullptr;
  self->owner.store(owner, std::memory_order_relaxed);
  self->count = static_cast<std::size_t>(count);
  if (PyErr_Occurred() != nullptr) return nullptr;  // a signal handler raised, but the lock is held
  Py_RETURN_NONE;
}

PyDoc_STRVAR(rlock_doc,
             "RLock(algorithm='fair', *, waiting='spin-then-park', platoon=10, skip=0.0)\n--\n\n"
             "A lock that its owner may acquire again, with the interface of threading.RLock.\n\n"
             "The owner must release it as often as it acquired it, and no other thread may release it.\n"
             "The arguments, the order of waiters and the behaviour at a fork are those of Lock.");

PyMethodDef rlock_methods[] = {
    FAIRLOCK_METHODS(rlock),
    {"_is_owned", &rlock_is_owned, METH_NOARGS,
     "_is_owned($self, /)\n--\n\nFor conditions: return whether the calling thread holds the lock."},
    {"_recursion_count", &rlock_recursion_count, METH_NOARGS,
     "_recursion_count($self, /)\n--\n\nReturn how many times the calling thread holds the lock."},
    {"_release_save", &rlock_release_save, METH_NOARGS,
     "_release_save($self, /)\n--\n\nFor conditions: release the lock completely, and return its state."},
    {"_acquire_restore", &rlock_acquire_restore, METH_O,
     "_acquire_restore($self, saved, /)\n--\n\nFor conditions: acquire the lock as often as before."},
    {},
};

PyType_Slot rlock_slots[] = {
    {Py_tp_doc, const_cast<char*>(rlock_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&new_rlock)},
    {Py_tp_init, reinterpret_cast<void*>(&init_lock)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&primitive_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(&primitive_traverse)},
    {Py_tp_repr, reinterpret_cast<void*>(&rlock_repr)},
    {Py_tp_methods, rlock_methods},
    {Py_tp_getset, lock_getters},
    {Py_tp_members, primitive_members},
    {0, nullptr},
};

}  // namespace

PyType_Spec lock_spec{"fairlock.Lock", sizeof(LockObject), 0, type_flags, lock_slots};
PyType_Spec rlock_spec{"fairlock.RLock", sizeof(LockObject), 0, type_flags, rlock_slots};

// A vanished thread that was granted the lock, but had not attached again, is not its owner.
void repair_lock(PyObject* object) {
  LockObject* const self = lock_of(object);
  reset(self, 1);
  if (self->owner.load(std::memory_order_relaxed) != 0) try_take(self);
}

}  // namespace fairlock::python
