// SPDX-License-Identifier: Apache-2.0
#include "primitive.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "module.hpp"

namespace fairlock::python {

Slow* slow_of(Primitive* self) {
  Slow* slow = self->slow.load(std::memory_order_acquire);
  if (slow != nullptr) [[likely]]
    return slow;
  Slow* const mine = new (std::nothrow) Slow;
  if (mine == nullptr || self->slow.compare_exchange_strong(slow, mine, std::memory_order_acq_rel)) return mine;
  delete mine;
  return slow;
}

namespace {

// Threads share the object: no more counting of references on every call. It will then die in a collection, so not
// before it is contended.
void share([[maybe_unused]] Primitive* self, [[maybe_unused]] Slow& slow) {
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030E0000
  if (!slow.shared.load(std::memory_order_relaxed) && !slow.shared.exchange(true))
    PyUnstable_Object_EnableDeferredRefcount(reinterpret_cast<PyObject*>(self));
#endif
}

}  // namespace

Outcome wait_for(Primitive* self, std::uint64_t deadline) {
  if (deadline == 0) return Outcome::timed_out;
  const Algorithm& algorithm = *self->algorithm;
  Slow* const slow = slow_of(self);
  if (slow == nullptr) {
    PyErr_NoMemory();
    return Outcome::error;
  }
  share(self, *slow);
#ifdef Py_GIL_DISABLED
  // The thread looks only briefly, because it is still attached, and another thread may be waiting to stop the world.
  // It looks only while no thread is in line: otherwise a thread that has just given way would be back at once. The
  // first looks come soon, the later ones rarely.
  for (unsigned pauses = 8, left = 2500; left > pauses && slow->waiting.load(std::memory_order_relaxed) == 0;) {
    DefaultPlatform::pause(pauses);
    if (algorithm.permits(self->state) > 0 && algorithm.try_acquire(self->state)) return Outcome::acquired;
    left -= pauses;
    pauses = std::min(2 * pauses, 256u);
  }
#endif
  Patience patience(deadline, Handlers::out_of_line);
  Wait wait(reinterpret_cast<PyObject*>(self), patience.interpreter());
  const bool acquired = wait_detached(self, *slow, patience, wait);
  if (!patience.attach()) return acquired ? Outcome::acquired : Outcome::timed_out;
  if (acquired) {                   // it came while a handler raised
    patience.claims_permit(false);  // first: the child of a fork in between must not find the permit twice
    algorithm.release(self->state, 1);
  }
  return Outcome::error;
}

bool wait_detached(Primitive* self, Slow& slow, Patience& patience, Wait& wait) {
  const InLine in_line(slow.waiting);  // after the Wait: whoever is counted is in fairlock.dump() too
  patience.shown_by(wait);
  return slow.tally.count([&] {
    bool came;
    do came = self->algorithm->acquire(self->state, patience);
    while (!came && patience.to_be_continued());
    patience.claims_permit(came);
    return came;
  });
}

bool wait_unconditionally(Primitive* self) {
  Slow* const slow = slow_of(self);
  if (slow == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  Patience patience(never);
  patience.make_unconditional();
  Wait wait(reinterpret_cast<PyObject*>(self), patience.interpreter());
  wait_detached(self, *slow, patience, wait);
  patience.attach();
  return true;
}

PyObject* make(PyTypeObject* type, Sort sort, const Algorithm& algorithm, const Knobs& knobs) {
  PyObject* const object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  auto* const self = as<Primitive>(object);
  self->sort = sort;
  self->algorithm = &algorithm;
  self->state = self->room;
  algorithm.make(self->state, knobs);
  return object;
}

bool set_up(Primitive* self, const Algorithm& algorithm, const Knobs& knobs) {
  // It could be acquired before: what it then holds, and who waits for it, must not be wiped out.
  const bool untouched =
      self->slow.load(std::memory_order_relaxed) == nullptr && self->algorithm->permits(self->state) == 1;
  if (!untouched || self->set_up.exchange(true, std::memory_order_relaxed)) {
    PyErr_Format(PyExc_RuntimeError, "this %s is in use: __init__ cannot be called again, or late; make a new one",
                 Py_TYPE(self)->tp_name);
    return false;
  }
  if (algorithm.bytes > sizeof self->room || algorithm.alignment > alignof(std::uint64_t)) {
    void* const own = ::operator new(algorithm.bytes, std::align_val_t(algorithm.alignment), std::nothrow);
    if (own == nullptr) {
      self->set_up = false;
      PyErr_NoMemory();
      return false;
    }
    self->state = own;
  }
  self->algorithm = &algorithm;
  algorithm.make(self->state, knobs);
  return true;
}

void renew(Primitive* self, std::uint64_t permits) {
  self->algorithm->renew(self->state, permits);
  if (Slow* const slow = self->slow.load(std::memory_order_relaxed)) slow->waiting.store(0, std::memory_order_relaxed);
}

const Algorithm* choose(const Choice& choice, const Algorithm* (*find)(const char*, const char*),
                        const Algorithm& otherwise, Knobs& knobs) {
  const auto text = [](PyObject* object, const char* otherwise, const char* what) -> const char* {
    if (object == nullptr || object == Py_None) return otherwise;
    if (!PyUnicode_Check(object)) {
      PyErr_Format(PyExc_TypeError, "%s must be a string, not %.100s", what, Py_TYPE(object)->tp_name);
      return nullptr;
    }
    Py_ssize_t length;
    const char* const name = PyUnicode_AsUTF8AndSize(object, &length);
    if (name == nullptr || std::strlen(name) == static_cast<std::size_t>(length)) return name;
    PyErr_Format(PyExc_ValueError, "there is no %s %R: its name has a null character", what, object);
    return nullptr;
  };
  if (choice.algorithm == nullptr && choice.waiting == nullptr && choice.platoon == nullptr && choice.skip == nullptr)
    return &otherwise;
  const char* const name = text(choice.algorithm, otherwise.name, "algorithm");
  if (name == nullptr) return nullptr;
  const char* const waiting = text(choice.waiting, otherwise.waiting, "waiting");
  if (waiting == nullptr) return nullptr;
  const Algorithm* const algorithm = find(name, waiting);
  if (algorithm == nullptr) return nullptr;
  if (algorithm->skip < 0 && (choice.platoon != nullptr || choice.skip != nullptr)) {
    PyErr_Format(PyExc_ValueError,
                 "'%s' has neither platoon nor skip: these are knobs of the capacitors, such as 'capacitor-tts'", name);
    return nullptr;
  }
  knobs.skip = algorithm->skip < 0 ? 0 : algorithm->skip;
  return turn_knobs(choice.platoon, choice.skip, knobs) ? algorithm : nullptr;
}

bool turn_knobs(PyObject* platoon, PyObject* skip, Knobs& knobs) {
  if (platoon != nullptr) {
    int overflow = 0;
    const long long threads = PyLong_AsLongLongAndOverflow(platoon, &overflow);
    if (threads == -1 && PyErr_Occurred() != nullptr) return false;
    if (overflow != 0 || threads < 1 || threads > max_platoon) {
      PyErr_Format(PyExc_ValueError, "platoon must be from 1 to %lld threads, not %R", max_platoon, platoon);
      return false;
    }
    knobs.platoon = static_cast<unsigned>(threads);
  }
  if (skip != nullptr) {
    knobs.skip = PyFloat_AsDouble(skip);
    if (knobs.skip == -1.0 && PyErr_Occurred() != nullptr) return false;
    if (!(knobs.skip >= 0 && knobs.skip <= 1)) {
      PyErr_Format(PyExc_ValueError, "skip must be a probability, from 0 to 1, not %R", skip);
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
  delete self->slow.load(std::memory_order_relaxed);
  if (self->state != self->room) ::operator delete(self->state, std::align_val_t(self->algorithm->alignment));
  type->tp_free(object);
  Py_DECREF(type);
}

int primitive_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

PyObject* primitive_statistics(PyObject* object, PyObject*) {
  const Slow* const slow = as<Primitive>(object)->slow.load(std::memory_order_acquire);
  return new_statistics(object, slow == nullptr ? Statistics{} : slow->tally.statistics(0));
}

PyObject* refuse_to_pickle(PyObject* self, PyObject*) {
  PyErr_Format(
      PyExc_TypeError,
      "cannot pickle '%s' object: it lives in one process; make a new one where it is unpickled (__getstate__ can leave it out)",
      Py_TYPE(self)->tp_name);
  return nullptr;
}

PyObject* get_algorithm(PyObject* self, void*) { return PyUnicode_FromString(as<Primitive>(self)->algorithm->name); }

PyObject* get_waiting(PyObject* self, void*) {
  const Slow* const slow = as<Primitive>(self)->slow.load(std::memory_order_acquire);
  return PyLong_FromUnsignedLong(slow == nullptr ? 0 : slow->waiting.load(std::memory_order_acquire));
}

}  // namespace fairlock::python
