// SPDX-License-Identifier: Apache-2.0
#include "lock.hpp"

#include "module.hpp"
#include "timeout.hpp"

namespace fairlock::python {

namespace {

LockObject* lock_of(PyObject* object) { return as<LockObject>(object); }

PyObject* release_unlocked() {
  PyErr_SetString(PyExc_RuntimeError, "release unlocked lock: each release needs an acquire before it");
  return nullptr;
}

PyObject* not_mine() {
  PyErr_SetString(PyExc_RuntimeError,
                  "cannot release un-acquired lock: only the thread that holds an RLock releases it");
  return nullptr;
}

// After a try that failed.
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

PyObject* make_lock(PyTypeObject* type, PyObject*, PyObject*) { return make(type, Sort::lock, fair_lock, Knobs{}); }
PyObject* make_rlock(PyTypeObject* type, PyObject*, PyObject*) { return make(type, Sort::rlock, fair_lock, Knobs{}); }

int init_lock(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"algorithm", "waiting", "platoon", "skip", nullptr};
  Choice choice;
  const char* const format = lock_of(object)->sort == Sort::rlock ? "|O$OOO:RLock" : "|O$OOO:Lock";
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, const_cast<char**>(names), &choice.algorithm, &choice.waiting,
                                   &choice.platoon, &choice.skip))
    return -1;
  Knobs knobs;
  const Algorithm* const algorithm = choose(choice, &lock_algorithm, fair_lock, knobs);
  return algorithm != nullptr && set_up(lock_of(object), *algorithm, knobs) ? 0 : -1;
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
  renew(self, 1);
  self->owner.store(0, std::memory_order_relaxed);
  self->count = 0;
  Py_RETURN_NONE;
}

PyObject* get_owner(PyObject* object, void*) {
  const auto owner = lock_of(object)->owner.load(std::memory_order_relaxed);
  if (owner == 0) Py_RETURN_NONE;
  return PyLong_FromUnsignedLong(owner);
}

// What both types say of acquire().
#define FAIRLOCK_WAITING                                                                                                            \
  "blocking=False looks once. timeout is in seconds, and -1 means for ever; a wait with a timeout has its place in line like any\n" \
  "other. ValueError for another negative timeout, or for one with blocking=False; OverflowError above TIMEOUT_MAX. If a signal\n"  \
  "handler raises (Ctrl-C), the main thread leaves the line, and the lock is not taken."

PyDoc_STRVAR(
    lock_acquire_doc,
    "acquire($self, /, blocking=True, timeout=-1)\n--\n\n"
    "Take the lock, in line if need be. Return True, or False if it was not to be had in time.\n\n" FAIRLOCK_WAITING
    " A thread that\nacquires a Lock it already holds waits for itself.");
PyDoc_STRVAR(
    lock_release_doc,
    "release($self, /)\n--\n\n"
    "Let go of the lock; never waits. Any thread may, also one that did not acquire it. RuntimeError if it is not held.");
PyDoc_STRVAR(
    rlock_acquire_doc,
    "acquire($self, /, blocking=True, timeout=-1)\n--\n\n"
    "Take the lock, in line if need be; at once if the calling thread has it. Return True, or False if it was not to be had\n"
    "in time.\n\n" FAIRLOCK_WAITING);
PyDoc_STRVAR(
    rlock_release_doc,
    "release($self, /)\n--\n\n"
    "Take back one acquire(); the last one lets go of the lock. RuntimeError if the calling thread does not hold it.");
PyDoc_STRVAR(locked_doc, "locked($self, /)\n--\n\nReturn whether any thread holds the lock, just now.");
PyDoc_STRVAR(lock_doc,
             "Lock(algorithm='fair', *, waiting='spin-then-park', platoon=10, skip=0.0)\n--\n\n"
             "A lock that starves no thread, with the interface of threading.Lock.\n\n"
             "With the default, 'fair', a thread that finds the lock free takes it. While threads keep the lock busy,\n"
             "newcomers pass the first in line at most 512 times and for about 125 microseconds. While they do not,\n"
             "the lock wakes several waiters, so that every processor has work. Strict FIFO is one word away:\n"
             "Lock('twa'). ValueError for an unknown algorithm or way of waiting, with a list of the known ones.\n"
             "platoon and skip are for the capacitors.");

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
     "acquire_lock($self, /, blocking=True, timeout=-1)\n--\n\nAn old name of acquire()."},
    {"release_lock", &lock_release, METH_NOARGS, "release_lock($self, /)\n--\n\nAn old name of release()."},
    {"locked_lock", &lock_locked, METH_NOARGS, "locked_lock($self, /)\n--\n\nAn old name of locked()."},
    {},
};

PyGetSetDef lock_getters[] = {
    {"algorithm", &get_algorithm, nullptr, "The catalogue's name of the algorithm.", nullptr},
    {"waiting", &get_waiting, nullptr, "How many threads wait for it, just now.", nullptr},
    {"owner", &get_owner, nullptr, "The ident of the thread that acquired it (threading.get_ident()), or None.",
     nullptr},
    {},
};

PyType_Slot lock_slots[] = {
    {Py_tp_doc, const_cast<char*>(lock_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&make_lock)},
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
                      "Internal lock count overflowed: it was acquired too often without a release");
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
    return not_mine();
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
  if (!owned_by_me(self)) return not_mine();
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
      PyErr_SetString(PyExc_TypeError, "_acquire_restore() takes what _release_save() returned");
    return nullptr;
  }
  if (!take_unconditionally(self)) return nullptr;
  self->owner.store(owner, std::memory_order_relaxed);
  self->count = static_cast<std::size_t>(count);
  if (PyErr_Occurred() != nullptr) return nullptr;  // a signal handler raised, but the lock is held
  Py_RETURN_NONE;
}

PyDoc_STRVAR(
    rlock_doc,
    "RLock(algorithm='fair', *, waiting='spin-then-park', platoon=10, skip=0.0)\n--\n\n"
    "A Lock that its owner may acquire again, and must release as often; with the interface of threading.RLock.\n\n"
    "Only the thread that holds it may release it. The arguments are those of Lock.");

PyMethodDef rlock_methods[] = {
    FAIRLOCK_METHODS(rlock),
    {"_is_owned", &rlock_is_owned, METH_NOARGS,
     "_is_owned($self, /)\n--\n\nFor conditions: whether the calling thread holds it."},
    {"_recursion_count", &rlock_recursion_count, METH_NOARGS,
     "_recursion_count($self, /)\n--\n\nHow often the calling thread holds it."},
    {"_release_save", &rlock_release_save, METH_NOARGS,
     "_release_save($self, /)\n--\n\nFor conditions: release it altogether."},
    {"_acquire_restore", &rlock_acquire_restore, METH_O,
     "_acquire_restore($self, saved, /)\n--\n\nFor conditions: acquire it as it was."},
    {},
};

PyType_Slot rlock_slots[] = {
    {Py_tp_doc, const_cast<char*>(rlock_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&make_rlock)},
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

// Whoever was granted the lock but had not come back to the interpreter is no owner.
void mend_lock(PyObject* object) {
  LockObject* const self = lock_of(object);
  renew(self, 1);
  if (self->owner.load(std::memory_order_relaxed) != 0) try_take(self);
}

}  // namespace fairlock::python
