// SPDX-License-Identifier: Apache-2.0
#include "primitive.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "module.hpp"

namespace fairlock::python {

ContentionState* contention_of(Primitive* self) {
  ContentionState* contention = self->contention.load(std::memory_order_acquire);
  if (contention != nullptr) [[likely]]
    return contention;
  ContentionState* const fresh = new (std::nothrow) ContentionState;
  if (fresh == nullptr || self->contention.compare_exchange_strong(contention, fresh, std::memory_order_acq_rel))
    return fresh;
  delete fresh;
  return contention;
}

namespace {

// Without immediate reference counts, calls of several threads cause less traffic between processors. But only a
// garbage collection then frees the object, so only a contended object gives them up.
void defer_reference_counts([[maybe_unused]] Primitive* self, [[maybe_unused]] ContentionState& contention) {
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030E0000
  auto& deferred = contention.defers_reference_counts;
  if (!deferred.load(std::memory_order_relaxed) && !deferred.exchange(true))
    PyUnstable_Object_EnableDeferredRefcount(reinterpret_cast<PyObject*>(self));
#endif
}

}  // namespace

Outcome wait_for(Primitive* self, std::uint64_t deadline) {
  if (deadline == 0) return Outcome::timed_out;
  const Algorithm& algorithm = *self->algorithm;
  ContentionState* const contention = contention_of(self);
  if (contention == nullptr) {
    PyErr_NoMemory();
    return Outcome::error;
  }
  defer_reference_counts(self, *contention);
#ifdef Py_GIL_DISABLED
  // The thread spins only briefly, because it is still attached, and another thread may be waiting to stop the world.
  // It spins only while the line is empty: otherwise an owner that has just released the lock for the first waiter
  // would take it back at once. The pauses between two attempts grow.
  for (unsigned pauses = 8, left = 2500; left > pauses && contention->waiters.load(std::memory_order_relaxed) == 0;) {
    DefaultPlatform::pause(pauses);
    if (algorithm.permits(self->state) > 0 && algorithm.try_acquire(self->state)) return Outcome::acquired;
    left -= pauses;
    pauses = std::min(2 * pauses, 256u);
  }
#endif
  InterruptibleWait wait(reinterpret_cast<PyObject*>(self), contention->waiters, Handlers::out_of_line);
  wait.detach(deadline);
  const bool acquired = wait_detached(self, *contention, wait);
  if (!wait.attach()) return acquired ? Outcome::acquired : Outcome::timed_out;
  if (acquired) {  // while a handler raised
    // The order matters: between the two calls, another thread may fork, and its child must not count the permit twice.
    wait.claims_permit(false);
    algorithm.release(self->state, 1);
  }
  return Outcome::error;
}

bool wait_detached(Primitive* self, ContentionState& contention, InterruptibleWait& wait) {
  return contention.tally.count([&] {
    bool acquired;
    do acquired = self->algorithm->acquire(self->state, wait);
    while (!acquired && wait.goes_on());
    wait.claims_permit(acquired);
    return acquired;
  });
}

bool wait_unconditionally(Primitive* self) {
  ContentionState* const contention = contention_of(self);
  if (contention == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  InterruptibleWait wait(reinterpret_cast<PyObject*>(self), contention->waiters, Handlers::out_of_line);
  wait.make_unconditional();
  wait.detach(never);
  wait_detached(self, *contention, wait);
  wait.attach();
  return true;
}

PyObject* create(PyTypeObject* type, Kind kind, const Algorithm& algorithm, const Knobs& knobs) {
  PyObject* const object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  auto* const self = as<Primitive>(object);
  self->kind = kind;
  self->algorithm = &algorithm;
  self->state = self->room;
  algorithm.construct(self->state, knobs);
  return object;
}

bool initialize(Primitive* self, const Algorithm& algorithm, const Knobs& knobs) {
  // A thread may have acquired the object before __init__. A new algorithm would forget the owner and the waiters.
  const bool untouched =
      self->contention.load(std::memory_order_relaxed) == nullptr && self->algorithm->permits(self->state) == 1;
  if (!untouched || self->initialized.exchange(true, std::memory_order_relaxed)) {
    PyErr_Format(PyExc_RuntimeError,
                 "this %s is in use: __init__() cannot be called again, or after its first use; create a new object",
                 Py_TYPE(self)->tp_name);
    return false;
  }
  if (algorithm.bytes > sizeof self->room || algorithm.alignment > alignof(std::uint64_t)) {
    void* const own = ::operator new(algorithm.bytes, std::align_val_t(algorithm.alignment), std::nothrow);
    if (own == nullptr) {
      self->initialized = false;
      PyErr_NoMemory();
      return false;
    }
    self->state = own;
  }
  self->algorithm = &algorithm;
  algorithm.construct(self->state, knobs);
  return true;
}

void reset(Primitive* self, std::uint64_t permits) { self->algorithm->reset(self->state, permits); }

const Algorithm* choose(const Choice& choice, const Algorithm* (*find)(const char*, const char*),
                        const Algorithm& default_algorithm, Knobs& knobs) {
  const auto text = [](PyObject* object, const char* default_text, const char* argument) -> const char* {
    if (object == nullptr || object == Py_None) return default_text;
    if (!PyUnicode_Check(object)) {
      PyErr_Format(PyExc_TypeError, "%s must be a string, not %.100s", argument, Py_TYPE(object)->tp_name);
      return nullptr;
    }
    Py_ssize_t length;
    const char* const name = PyUnicode_AsUTF8AndSize(object, &length);
    if (name != nullptr && std::strlen(name) == static_cast<std::size_t>(length)) return name;
    PyErr_Clear();  // a surrogate
    PyErr_Format(PyExc_ValueError, "%s must be a name, not %.100R", argument, object);
    return nullptr;
  };
  if (choice.algorithm == nullptr && choice.waiting == nullptr && choice.platoon == nullptr && choice.skip == nullptr)
    return &default_algorithm;
  const char* const name = text(choice.algorithm, default_algorithm.name, "algorithm");
  if (name == nullptr) return nullptr;
  const char* const policy = text(choice.waiting, default_algorithm.policy, "waiting");
  if (policy == nullptr) return nullptr;
  const Algorithm* const algorithm = find(name, policy);
  if (algorithm == nullptr) return nullptr;
  if (algorithm->default_skip < 0 && (choice.platoon != nullptr || choice.skip != nullptr)) {
    PyErr_Format(PyExc_ValueError,
                 "'%s' takes neither platoon nor skip: only the capacitors do, such as 'capacitor-tts'", name);
    return nullptr;
  }
  knobs.skip = algorithm->default_skip < 0 ? 0 : algorithm->default_skip;
  return parse_knobs(choice.platoon, choice.skip, knobs) ? algorithm : nullptr;
}

bool parse_knobs(PyObject* platoon, PyObject* skip, Knobs& knobs) {
  if (platoon != nullptr) {
    if (!expect_integer(platoon, "platoon")) return false;
    int overflow = 0;
    const long long threads = PyLong_AsLongLongAndOverflow(platoon, &overflow);
    if (threads == -1 && PyErr_Occurred() != nullptr) return false;
    if (overflow != 0) {  // without the number, which may have more digits than Python prints
      PyErr_Format(PyExc_ValueError, "platoon must be from 1 to %lld threads", max_platoon);
      return false;
    }
    if (threads < 1 || threads > max_platoon) {
      PyErr_Format(PyExc_ValueError, "platoon must be from 1 to %lld threads, not %lld", max_platoon, threads);
      return false;
    }
    knobs.platoon = static_cast<unsigned>(threads);
  }
  if (skip != nullptr) {
    if (!PyNumber_Check(skip) || PyComplex_Check(skip)) {
      PyErr_Format(PyExc_TypeError, "skip must be a probability from 0 to 1, not %.100s", Py_TYPE(skip)->tp_name);
      return false;
    }
    knobs.skip = PyFloat_AsDouble(skip);
    if (knobs.skip == -1.0 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_ValueError, "skip must be a probability from 0 to 1");
      return false;
    }
    if (!(knobs.skip >= 0 && knobs.skip <= 1)) {
      PyErr_Format(PyExc_ValueError, "skip must be a probability from 0 to 1, not %R", skip);
      return false;
    }
  }
  return true;
}

PyMemberDef primitive_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Primitive, weak_references), READONLY, nullptr},
    {},
};

void primitive_dealloc(PyObject* object) {
  auto* const self = as<Primitive>(object);
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  delete self->contention.load(std::memory_order_relaxed);
  if (self->state != self->room) ::operator delete(self->state, std::align_val_t(self->algorithm->alignment));
  type->tp_free(object);
  Py_DECREF(type);
}

int primitive_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

PyObject* primitive_statistics(PyObject* object, PyObject*) {
  const ContentionState* const contention = as<Primitive>(object)->contention.load(std::memory_order_acquire);
  return new_statistics(object, contention == nullptr ? Statistics{} : contention->tally.statistics(0));
}

PyObject* refuse_to_pickle(PyObject* self, PyObject*) {
  PyErr_Format(PyExc_TypeError,
               "cannot pickle '%s' object: it belongs to one process; leave it out in __getstate__() and "
               "create a new one in __setstate__()",
               Py_TYPE(self)->tp_name);
  return nullptr;
}

PyObject* get_algorithm(PyObject* self, void*) { return PyUnicode_FromString(as<Primitive>(self)->algorithm->name); }

PyObject* get_policy(PyObject* self, void*) { return PyUnicode_FromString(as<Primitive>(self)->algorithm->policy); }

PyObject* get_waiters(PyObject* self, void*) {
  const ContentionState* const contention = as<Primitive>(self)->contention.load(std::memory_order_acquire);
  return PyLong_FromUnsignedLong(contention == nullptr ? 0 : contention->waiters.load(std::memory_order_acquire));
}

// The old name must not quietly return something else: `waiting` is now the policy that the constructor takes.
PyObject* refuse_waiting(PyObject* self, void*) {
  const char* const full_name = Py_TYPE(self)->tp_name;
  const char* const dot = std::strrchr(full_name, '.');
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'waiting'; use 'waiters' ('waiting' is the policy)",
               dot == nullptr ? full_name : dot + 1);
  return nullptr;
}

}  // namespace fairlock::python
