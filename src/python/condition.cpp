// SPDX-License-Identifier: Apache-2.0
// Condition.
//
//   field         holds                                          written by
//   lock          the lock of the condition                      the constructor, __init__
//   initialized   __init__ was called                            __init__
//   waiters       the number of waiting threads                  WaitRecord alone
//   line          the threads in line for a notification         waiters and notifiers
#include <fairlock/line/notify.hpp>

#include "condition_lock.hpp"
#include "module.hpp"
#include "timeout.hpp"

namespace fairlock::python {

namespace {

// Without a GIL, threads that notify each other in turn run at the same time, so a notification often comes soon. Then
// it pays to spin for longer than it takes to fall asleep and wake up. With a GIL, the notifier cannot run while the
// waiter spins.
struct LongerSpin : SpinThenPark {
  static constexpr unsigned long_spin = free_threaded ? 450 : 0;
};
using Line = WaiterLine<CountingNative<LongerSpin>>;

struct ConditionObject {
  PyObject ob_base;
  PyObject* weak_references;
  ConditionLock lock;
  std::atomic<bool> initialized;
  std::atomic<std::uint32_t> waiters;
  Line line;
};

ConditionObject* condition_of(PyObject* object) { return as<ConditionObject>(object); }

// --- waiting ---

// When this returns, the thread holds the lock again, unless the acquire of a foreign lock raised.
Outcome wait_until(ConditionObject* self, std::uint64_t deadline) {
  ConditionLock::SavedState state;
  bool notified, raised;
  {
    // The record comes first, because the release of a foreign lock may let another thread fork. The place comes before
    // the release, so that the next owner of the lock finds this thread in line.
    InterruptibleWait wait(reinterpret_cast<PyObject*>(self), self->waiters, Handlers::in_line);
    Line::Place place(self->line);
    wait.stands_at(&place);
    if (!self->lock.release_for_wait(state)) return Outcome::error;
    wait.detach(deadline);
    notified = place.wait(wait);
    // Without a GIL, the thread takes the lock before it attaches, which may take long. With a GIL, it attaches first:
    // otherwise it would hold the lock while it waits for the GIL, and the running thread would have to give up the GIL
    // at its next acquisition of the lock.
    if (free_threaded) self->lock.take_detached(state, wait);
    raised = wait.attach();
    if (!free_threaded) self->lock.take_attached();
    raised |= PyErr_Occurred() != nullptr;
  }
  if (self->lock.restore(state) && !raised) return notified ? Outcome::acquired : Outcome::timed_out;
  if (notified) self->line.notify(1);  // pass the notification to the next waiter
  return Outcome::error;
}

DeadlineOrError deadline_of(PyObject* timeout) {
  return timeout == nullptr || timeout == Py_None ? DeadlineOrError(never) : deadline_after(timeout);
}

PyObject* condition_wait(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"timeout", nullptr};
  PyObject* timeout = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:wait", const_cast<char**>(names), &timeout)) return nullptr;
  ConditionObject* const self = condition_of(object);
  if (!self->lock.expect_owned("wait")) return nullptr;
  const auto deadline = deadline_of(timeout);
  if (!deadline) return nullptr;
  const auto outcome = wait_until(self, *deadline);
  if (outcome == Outcome::error) return nullptr;
  return PyBool_FromLong(outcome == Outcome::acquired);
}

PyObject* condition_wait_for(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"predicate", "timeout", nullptr};
  PyObject *predicate, *timeout = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:wait_for", const_cast<char**>(names), &predicate, &timeout))
    return nullptr;
  ConditionObject* const self = condition_of(object);
  const auto deadline = deadline_of(timeout);
  if (!deadline) return nullptr;
  for (bool in_time = true;;) {
    PyObject* const result = PyObject_CallNoArgs(predicate);
    if (result == nullptr) return nullptr;
    const int holds = PyObject_IsTrue(result);
    if (holds > 0 || (holds == 0 && !in_time)) return result;
    Py_DECREF(result);
    if (holds < 0) return nullptr;
    if (!self->lock.expect_owned("wait")) return nullptr;
    const auto outcome = wait_until(self, *deadline);
    if (outcome == Outcome::error) return nullptr;
    in_time = outcome == Outcome::acquired;
  }
}

// --- notifying ---

PyObject* condition_notify(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"n", nullptr};
  PyObject* given = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:notify", const_cast<char**>(names), &given)) return nullptr;
  if (given != nullptr && !expect_integer(given, "n")) return nullptr;
  int overflow = 0;
  const long long n = given == nullptr ? 1 : PyLong_AsLongLongAndOverflow(given, &overflow);
  if (n == -1 && PyErr_Occurred() != nullptr) return nullptr;
  ConditionObject* const self = condition_of(object);
  if (!self->lock.expect_owned("notify")) return nullptr;
  if (n > 0 || overflow > 0) self->line.notify(overflow > 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(n));
  Py_RETURN_NONE;
}

PyObject* condition_notify_all(PyObject* object, PyObject*) {
  ConditionObject* const self = condition_of(object);
  if (!self->lock.expect_owned("notify")) return nullptr;
  self->line.notify(~std::uint64_t{0});
  Py_RETURN_NONE;
}

PyObject* condition_notify_all_deprecated(PyObject* object, PyObject*) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, "notifyAll() is deprecated, use notify_all() instead", 1) < 0)
    return nullptr;
  return condition_notify_all(object, nullptr);
}

// --- the lock's methods ---

PyObject* condition_enter(PyObject* object, PyObject*) { return condition_of(object)->lock.enter(); }
PyObject* condition_exit(PyObject* object, PyObject* args) { return condition_of(object)->lock.exit(args); }
PyObject* condition_acquire(PyObject* object, PyObject* args, PyObject* kwargs) {
  return condition_of(object)->lock.acquire(args, kwargs);
}
PyObject* condition_release(PyObject* object, PyObject*) { return condition_of(object)->lock.call("release"); }
PyObject* condition_locked(PyObject* object, PyObject*) { return condition_of(object)->lock.call("locked"); }

PyObject* condition_is_owned(PyObject* object, PyObject*) {
  const int owned = condition_of(object)->lock.is_owned();
  return owned < 0 ? nullptr : PyBool_FromLong(owned);
}

PyObject* condition_release_save(PyObject* object, PyObject*) { return condition_of(object)->lock.release_save(); }
PyObject* condition_acquire_restore(PyObject* object, PyObject* saved) {
  return condition_of(object)->lock.acquire_restore(saved);
}
PyObject* condition_recursion_count(PyObject* object, PyObject*) {
  return condition_of(object)->lock.call("_recursion_count");
}

PyObject* condition_at_fork_reinit(PyObject* object, PyObject*) {
  repair_condition(object);
  return condition_of(object)->lock.call("_at_fork_reinit");
}

PyObject* condition_repr(PyObject* object) {
  const ConditionObject* const self = condition_of(object);
  return PyUnicode_FromFormat("<Condition(%R, %u)>", self->lock.object, self->waiters.load(std::memory_order_relaxed));
}

PyObject* get_lock(PyObject* object, void*) { return Py_NewRef(condition_of(object)->lock.object); }
PyObject* get_waiters_of_condition(PyObject* object, void*) {
  return PyLong_FromUnsignedLong(condition_of(object)->waiters.load(std::memory_order_acquire));
}

// --- life ---

PyObject* new_condition(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  PyObject* const lock = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(module_state(type).rlock));
  if (lock == nullptr || !condition_of(self)->lock.set(lock, module_state(type))) {
    Py_XDECREF(lock);
    Py_DECREF(self);
    return nullptr;
  }
  Py_DECREF(lock);
  return self;
}

int init_condition(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"lock", nullptr};
  PyObject* lock = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Condition", const_cast<char**>(names), &lock)) return -1;
  ConditionObject* const self = condition_of(object);
  // Other threads may be waiting for the present lock, and they have no reference of their own to it.
  if (self->waiters.load(std::memory_order_relaxed) != 0 || self->lock.in_use() ||
      self->initialized.exchange(true, std::memory_order_relaxed)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "this condition is in use: __init__() cannot be called again, or after its first use; create a new "
                    "object");
    return -1;
  }
  return lock == Py_None || self->lock.set(lock, module_state(Py_TYPE(object))) ? 0 : -1;
}

void condition_dealloc(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_TRASHCAN_BEGIN(object, condition_dealloc)  // conditions may be nested to any depth
      if (condition_of(object)->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  Py_CLEAR(condition_of(object)->lock.object);
  type->tp_free(object);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

// Leaves None, not null: finalizers may still call methods.
int condition_clear(PyObject* object) {
  condition_of(object)->lock.clear();
  return 0;
}

int condition_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(condition_of(object)->lock.object);
  return 0;
}

PyDoc_STRVAR(wait_doc,
             "wait($self, /, timeout=None)\n--\n\n"
             "Release the lock, wait for a notification, and acquire the lock again.\n\n"
             "Return True, or False if the timeout expires first. timeout is in seconds; None waits without a\n"
             "limit. It limits only the wait for the notification: when wait() returns or raises, the thread\n"
             "holds the lock, as often as before if it is an RLock. That is also true if a signal handler raises\n"
             "(Ctrl-C) in the main thread.\n\n"
             "Another thread may acquire the lock between the notification and the return. So check the condition\n"
             "again, or use wait_for(). Raises RuntimeError if the lock is not held.");
PyDoc_STRVAR(wait_for_doc,
             "wait_for($self, /, predicate, timeout=None)\n--\n\n"
             "Wait until predicate() is true, and return its last value.\n\n"
             "That value is false if the timeout expires first. predicate is called with the lock held, and its\n"
             "exceptions propagate. Raises RuntimeError if the lock is not held.");
PyDoc_STRVAR(notify_doc,
             "notify($self, /, n=1)\n--\n\n"
             "Wake the n threads that have waited longest, or all waiting threads if there are fewer.\n\n"
             "They go on when they get the lock. If no thread waits, the notification is lost. Raises RuntimeError\n"
             "if the lock is not held.");
PyDoc_STRVAR(notify_all_doc,
             "notify_all($self, /)\n--\n\nWake all waiting threads. Raises RuntimeError if the lock is not held.");
PyDoc_STRVAR(condition_doc,
             "Condition(lock=None)\n--\n\n"
             "A condition variable, with the interface of threading.Condition.\n\n"
             "Notifications go to the oldest waiter first. lock is a Lock or an RLock, of fairlock or of\n"
             "threading, or any object with acquire() and release(). None creates an RLock. Any other object\n"
             "raises AttributeError.\n\n"
             "In the child of a fork, no thread waits for a notification.");

PyMethodDef condition_methods[] = {
    {"acquire", method(&condition_acquire), METH_VARARGS | METH_KEYWORDS,
     "acquire($self, /, *args, **kwargs)\n--\n\nAcquire the lock of the condition, with the lock's own arguments."},
    {"release", &condition_release, METH_NOARGS, "release($self, /)\n--\n\nRelease the lock of the condition."},
    {"locked", &condition_locked, METH_NOARGS,
     "locked($self, /)\n--\n\nReturn whether a thread holds the lock of the condition now."},
    {"__enter__", &condition_enter, METH_NOARGS, enter_doc},
    {"__exit__", &condition_exit, METH_VARARGS, exit_doc},
    {"wait", method(&condition_wait), METH_VARARGS | METH_KEYWORDS, wait_doc},
    {"wait_for", method(&condition_wait_for), METH_VARARGS | METH_KEYWORDS, wait_for_doc},
    {"notify", method(&condition_notify), METH_VARARGS | METH_KEYWORDS, notify_doc},
    {"notify_all", &condition_notify_all, METH_NOARGS, notify_all_doc},
    {"notifyAll", &condition_notify_all_deprecated, METH_NOARGS,
     "notifyAll($self, /)\n--\n\nDeprecated: use notify_all()."},
    {"_is_owned", &condition_is_owned, METH_NOARGS, nullptr},
    {"_release_save", &condition_release_save, METH_NOARGS, nullptr},
    {"_acquire_restore", &condition_acquire_restore, METH_O, nullptr},
    {"_recursion_count", &condition_recursion_count, METH_NOARGS, nullptr},
    {"_at_fork_reinit", &condition_at_fork_reinit, METH_NOARGS, nullptr},
    {"__reduce__", &refuse_to_pickle, METH_NOARGS, nullptr},
    {},
};

PyGetSetDef condition_getters[] = {
    {"_lock", &get_lock, nullptr, "The lock of the condition.", nullptr},
    {"waiters", &get_waiters_of_condition, nullptr, "The number of threads that wait for a notification now.", nullptr},
    {"waiting", &refuse_waiting, nullptr, waiting_doc, nullptr},
    {},
};

PyMemberDef condition_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ConditionObject, weak_references), READONLY, nullptr},
    {},
};

PyType_Slot condition_slots[] = {
    {Py_tp_doc, const_cast<char*>(condition_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&new_condition)},
    {Py_tp_init, reinterpret_cast<void*>(&init_condition)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&condition_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(&condition_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&condition_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(&condition_repr)},
    {Py_tp_methods, condition_methods},
    {Py_tp_getset, condition_getters},
    {Py_tp_members, condition_members},
    {0, nullptr},
};

}  // namespace

PyType_Spec condition_spec{"fairlock.Condition", sizeof(ConditionObject), 0, type_flags, condition_slots};

void repair_condition(PyObject* object) {
  ConditionObject* const self = condition_of(object);
  new (&self->line) Line{};
  for (void* const place : own_places(object)) static_cast<Line::Place*>(place)->rejoin();
  self->lock.repair();
}

}  // namespace fairlock::python
