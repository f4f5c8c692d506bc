// SPDX-License-Identifier: Apache-2.0
// Capacitor: admits threads in platoons to any object with acquire() and release().
//
//   field        holds                                                     written by
//   algorithm    the gate, which starts with `platoon` permits             arrivals, the last member of a platoon
//   departures   the number of departed members of this platoon            each member that departs
//   inside       the number of threads that arrived at the gate and hold   the threads that acquire and release
//                the inner lock; a thread that skips is not counted
//   generation   the fork generation in which the gate was last reset      the first caller after a fork
//
// A member departs after the inner release, unlike in the header (capacitor.hpp). The caller of release() holds a
// reference, so nothing is destroyed meanwhile, and an inner release that raises must not count as a departure.
#include <fairlock/capacitor.hpp>

#include "fork.hpp"
#include "module.hpp"
#include "primitive.hpp"
#include "timeout.hpp"

namespace fairlock::python {

namespace {

struct CapacitorObject : Primitive {
  PyObject* inner;
  Departures<DefaultPlatform> departures;
  std::atomic<std::int64_t> inside;
  std::atomic<std::uint64_t> generation;
  std::uint32_t platoon;
  double skip;
};

CapacitorObject* capacitor_of(PyObject* object) { return as<CapacitorObject>(object); }

void depart(CapacitorObject* self) {
  if (self->departures.depart(self->platoon)) self->algorithm->release(self->state, self->platoon);
}

// In the child of a fork, the members of a platoon whose threads vanished never depart, so the gate starts afresh.
void repair_after_fork(CapacitorObject* self) {
  auto generation = self->generation.load(std::memory_order_relaxed);
  if (generation == fork_generation()) [[likely]]
    return;
  if (!self->generation.compare_exchange_strong(generation, fork_generation())) return;
  const auto held = static_cast<std::uint32_t>(self->inside.load(std::memory_order_relaxed));
  reset(self, held < self->platoon ? self->platoon - held : 1);
  new (&self->departures) Departures<DefaultPlatform>{};
}

bool skips(const CapacitorObject* self) {
  if (self->skip == 0) [[likely]]
    return false;
  return static_cast<double>(DefaultPlatform::random() & 0xFFFFFFFF) < self->skip * 0x1p32;
}

// Calls the inner acquire with the remaining time. Returns 1, 0, or -1 with an exception set.
int acquire_inner(CapacitorObject* self, std::uint64_t deadline) {
  PyObject* result;
  if (deadline == never) {
    result = PyObject_CallMethod(self->inner, "acquire", nullptr);
  } else if (deadline == 0) {
    result = PyObject_CallMethod(self->inner, "acquire", "O", Py_False);
  } else {
    const auto now = steady_now();
    result = PyObject_CallMethod(self->inner, "acquire", "Od", Py_True,
                                 now < deadline ? static_cast<double>(deadline - now) / 1e9 : 0.0);
  }
  const int acquired = result == nullptr ? -1 : PyObject_IsTrue(result);
  Py_XDECREF(result);
  return acquired;
}

PyObject* acquire_until(CapacitorObject* self, std::uint64_t deadline) {
  repair_after_fork(self);
  const bool arrives = !skips(self);
  if (arrives && !self->algorithm->try_acquire(self->state)) {
    switch (wait_for(self, deadline)) {
      case Outcome::error: return nullptr;
      case Outcome::timed_out: Py_RETURN_FALSE;
      case Outcome::acquired: break;
    }
  }
  const int acquired = acquire_inner(self, deadline);
  if (acquired == 1) {
    if (arrives) self->inside.fetch_add(1, std::memory_order_relaxed);
    Py_RETURN_TRUE;
  }
  if (arrives) depart(self);  // if a member did not depart, the gate would never open again
  if (acquired < 0) return nullptr;
  Py_RETURN_FALSE;
}

PyObject* capacitor_acquire(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (no_arguments(count, names)) return acquire_until(capacitor_of(object), never);
  const auto deadline = lock_deadline(args, count, names);
  return deadline ? acquire_until(capacitor_of(object), *deadline) : nullptr;
}

PyObject* capacitor_enter(PyObject* object, PyObject*) { return acquire_until(capacitor_of(object), never); }

PyObject* capacitor_release(PyObject* object, PyObject*) {
  CapacitorObject* const self = capacitor_of(object);
  repair_after_fork(self);
  PyObject* const released = PyObject_CallMethod(self->inner, "release", nullptr);
  if (released == nullptr) return nullptr;
  Py_DECREF(released);
  // Only the number of departures matters, not which thread departs.
  auto inside = self->inside.load(std::memory_order_relaxed);
  while (inside > 0 && !self->inside.compare_exchange_weak(inside, inside - 1, std::memory_order_relaxed)) {}
  if (inside > 0) depart(self);
  Py_RETURN_NONE;
}

PyObject* capacitor_exit(PyObject* object, PyObject* const*, Py_ssize_t) { return capacitor_release(object, nullptr); }
PyObject* capacitor_locked(PyObject* object, PyObject*) {
  return PyObject_CallMethod(capacitor_of(object)->inner, "locked", nullptr);
}

PyObject* capacitor_at_fork_reinit(PyObject* object, PyObject*) {
  CapacitorObject* const self = capacitor_of(object);
  reset(self, self->platoon);
  new (&self->departures) Departures<DefaultPlatform>{};
  self->inside.store(0, std::memory_order_relaxed);
  return PyObject_CallMethod(self->inner, "_at_fork_reinit", nullptr);
}

PyObject* capacitor_repr(PyObject* object) {
  const CapacitorObject* const self = capacitor_of(object);
  return PyUnicode_FromFormat("<%s(%R, platoon=%u) at %p>", Py_TYPE(object)->tp_name, self->inner, self->platoon,
                              object);
}

PyObject* get_inner(PyObject* object, void*) { return Py_NewRef(capacitor_of(object)->inner); }
PyObject* get_platoon(PyObject* object, void*) { return PyLong_FromUnsignedLong(capacitor_of(object)->platoon); }
PyObject* get_skip(PyObject* object, void*) { return PyFloat_FromDouble(capacitor_of(object)->skip); }

// --- life ---

PyObject* new_capacitor(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const object = create(type, Kind::capacitor, gate, Knobs{.permits = 1});
  if (object == nullptr) return nullptr;
  CapacitorObject* const self = capacitor_of(object);
  self->inner = Py_NewRef(Py_None);
  self->platoon = 1;  // until __init__
  self->generation.store(fork_generation(), std::memory_order_relaxed);
  return object;
}

int init_capacitor(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"inner", "platoon", "skip", nullptr};
  PyObject *inner, *platoon = nullptr, *skip = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:Capacitor", const_cast<char**>(names), &inner, &platoon, &skip))
    return -1;
  if (PyType_Check(inner)) {
    PyErr_Format(PyExc_TypeError, "inner must be a lock, not the type %.100s: call the type to create a lock",
                 as<PyTypeObject>(inner)->tp_name);
    return -1;
  }
  for (const char* name : {"acquire", "release"}) {
    PyObject* const attribute = PyObject_GetAttrString(inner, name);
    if (attribute == nullptr) {
      PyErr_Format(PyExc_TypeError, "inner must be an object with acquire() and release(), not %.100s",
                   Py_TYPE(inner)->tp_name);
      return -1;
    }
    Py_DECREF(attribute);
  }
  Knobs knobs;
  if (!parse_knobs(platoon, skip, knobs)) return -1;
  knobs.permits = knobs.platoon;
  CapacitorObject* const self = capacitor_of(object);
  if (!initialize(self, gate, knobs)) return -1;
  Py_SETREF(self->inner, Py_NewRef(inner));
  self->platoon = knobs.platoon;
  self->skip = knobs.skip;
  return 0;
}

int capacitor_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(capacitor_of(object)->inner);
  return primitive_traverse(object, visit, arg);
}

// Leaves None, not null: finalizers may still call methods.
int capacitor_clear(PyObject* object) {
  Py_XSETREF(capacitor_of(object)->inner, Py_NewRef(Py_None));
  return 0;
}

void capacitor_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  Py_TRASHCAN_BEGIN(object, capacitor_dealloc)  // capacitors may be nested to any depth
      Py_CLEAR(capacitor_of(object)->inner);
  primitive_dealloc(object);
  Py_TRASHCAN_END
}

PyDoc_STRVAR(acquire_doc,
             "acquire($self, /, blocking=True, timeout=-1)\n--\n\n"
             "Join a platoon, then acquire the inner lock. Return True, or False if the timeout expires first.\n\n"
             "timeout is in seconds; -1 waits without a limit, and 0 tries once, like blocking=False. It covers\n"
             "both waits: the inner lock is called as inner.acquire(True, remaining). A signal handler that raises\n"
             "(Ctrl-C) ends the wait for the platoon. Whether it ends the inner acquire depends on that lock.");
PyDoc_STRVAR(release_doc,
             "release($self, /)\n--\n\n"
             "Release the inner lock, and leave the platoon.\n\n"
             "If inner.release() raises, the exception propagates and the thread stays in the platoon.");
PyDoc_STRVAR(capacitor_doc,
             "Capacitor(inner, platoon=10, skip=0.0)\n--\n\n"
             "A wrapper that makes any lock fair: it admits threads in platoons.\n\n"
             "inner is an object with acquire() and release(), such as a threading.Lock. At most platoon - 1\n"
             "threads that arrive later enter before a waiter. skip is a probability: that share of the arrivals\n"
             "goes straight to the inner lock, which is cheaper but only fair in the long run.\n\n"
             "In the child of a fork, the capacitor counts only the members that hold the inner lock.");

PyMethodDef capacitor_methods[] = {
    {"acquire", method(&capacitor_acquire), METH_FASTCALL | METH_KEYWORDS, acquire_doc},
    {"release", &capacitor_release, METH_NOARGS, release_doc},
    {"locked", &capacitor_locked, METH_NOARGS,
     "locked($self, /)\n--\n\nReturn whether a thread holds the inner lock now: inner.locked()."},
    {"__enter__", &capacitor_enter, METH_NOARGS, enter_doc},
    {"__exit__", method(&capacitor_exit), METH_FASTCALL, exit_doc},
    {"statistics", &primitive_statistics, METH_NOARGS, statistics_doc},
    {"_at_fork_reinit", &capacitor_at_fork_reinit, METH_NOARGS, nullptr},
    {"__reduce__", &refuse_to_pickle, METH_NOARGS, nullptr},
    {},
};

PyGetSetDef capacitor_getters[] = {
    {"algorithm", &get_algorithm, nullptr, algorithm_doc, nullptr},
    {"waiters", &get_waiters, nullptr, "The number of threads that wait for a place in a platoon now.", nullptr},
    {"waiting", &refuse_waiting, nullptr, waiting_doc, nullptr},
    {"inner", &get_inner, nullptr, "The inner lock.", nullptr},
    {"platoon", &get_platoon, nullptr, "The number of threads that a platoon admits.", nullptr},
    {"skip", &get_skip, nullptr, "The share of arrivals that go straight to the inner lock.", nullptr},
    {},
};

PyType_Slot capacitor_slots[] = {
    {Py_tp_doc, const_cast<char*>(capacitor_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&new_capacitor)},
    {Py_tp_init, reinterpret_cast<void*>(&init_capacitor)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&capacitor_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(&capacitor_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&capacitor_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(&capacitor_repr)},
    {Py_tp_methods, capacitor_methods},
    {Py_tp_getset, capacitor_getters},
    {Py_tp_members, primitive_members},
    {0, nullptr},
};

}  // namespace

PyType_Spec capacitor_spec{"fairlock.Capacitor", sizeof(CapacitorObject), 0, type_flags, capacitor_slots};

}  // namespace fairlock::python
