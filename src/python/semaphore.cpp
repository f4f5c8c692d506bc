// SPDX-License-Identifier: Apache-2.0
// Semaphore and BoundedSemaphore.
#include "semaphore.hpp"

#include <algorithm>

#include "module.hpp"
#include "timeout.hpp"

namespace fairlock::python {

namespace {

struct SemaphoreObject : Primitive {
  std::int64_t initial;
};

SemaphoreObject* semaphore_of(PyObject* object) { return as<SemaphoreObject>(object); }

bool try_take(SemaphoreObject* self) {
  if (self->algorithm == &fair_semaphore) [[likely]]
    return reinterpret_cast<FairCounter*>(self->room)->try_acquire();
  return self->algorithm->try_acquire(self->state);
}

void give(SemaphoreObject* self, std::uint64_t permits) {
  if (self->algorithm == &fair_semaphore) [[likely]]
    return reinterpret_cast<FairCounter*>(self->room)->release(permits);
  self->algorithm->release(self->state, permits);
}

std::int64_t permits(const SemaphoreObject* self) { return self->algorithm->permits(self->state); }
std::int64_t value(const SemaphoreObject* self) { return std::max(permits(self), std::int64_t{0}); }

// Half of what the algorithm can count: two simultaneous releases, each within the limit, must not exceed the count.
std::uint64_t max_permits(const Algorithm& algorithm) { return algorithm.max_permits / 2; }

PyObject* raise_too_many_permits(const SemaphoreObject* self) {
  PyErr_Format(PyExc_OverflowError, "too many permits: the algorithm '%s' counts at most %llu", self->algorithm->name,
               static_cast<unsigned long long>(max_permits(*self->algorithm)));
  return nullptr;
}

PyObject* create_with_one_permit(PyTypeObject* type, Kind kind) {
  PyObject* const self = create(type, kind, fair_semaphore, Knobs{.permits = 1});
  if (self != nullptr) semaphore_of(self)->initial = 1;
  return self;
}

PyObject* new_semaphore(PyTypeObject* type, PyObject*, PyObject*) {
  return create_with_one_permit(type, Kind::semaphore);
}
PyObject* new_bounded(PyTypeObject* type, PyObject*, PyObject*) {
  return create_with_one_permit(type, Kind::bounded_semaphore);
}

int init_semaphore(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"value", "algorithm", "waiting", nullptr};
  PyObject* given = nullptr;
  Choice choice;
  const char* const format =
      semaphore_of(object)->kind == Kind::bounded_semaphore ? "|OO$O:BoundedSemaphore" : "|OO$O:Semaphore";
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, const_cast<char**>(names), &given, &choice.algorithm,
                                   &choice.waiting))
    return -1;
  std::int64_t initial = 1;
  int overflow = 0;
  if (given != nullptr) {
    if (!expect_integer(given, "value")) return -1;
    initial = PyLong_AsLongLongAndOverflow(given, &overflow);
    if (initial == -1 && PyErr_Occurred() != nullptr) return -1;
  }
  if (initial < 0 && overflow <= 0) {
    if (overflow == 0)
      PyErr_Format(PyExc_ValueError, "semaphore initial value must be >= 0, not %lld", static_cast<long long>(initial));
    else PyErr_SetString(PyExc_ValueError, "semaphore initial value must be >= 0");
    return -1;
  }
  Knobs knobs;
  const Algorithm* const algorithm = choose(choice, &semaphore_algorithm, fair_semaphore, knobs);
  if (algorithm == nullptr) return -1;
  if (overflow > 0 || static_cast<std::uint64_t>(initial) > max_permits(*algorithm)) {
    PyErr_Format(PyExc_OverflowError,
                 "semaphore initial value is too large: the algorithm '%s' counts at most %llu permits",
                 algorithm->name, static_cast<unsigned long long>(max_permits(*algorithm)));
    return -1;
  }
  knobs.permits = static_cast<std::uint64_t>(initial);
  if (!initialize(semaphore_of(object), *algorithm, knobs)) return -1;
  semaphore_of(object)->initial = initial;
  return 0;
}

PyObject* acquire_until(SemaphoreObject* self, std::uint64_t deadline) {
  if (try_take(self)) [[likely]]
    Py_RETURN_TRUE;
  switch (wait_for(self, deadline)) {
    case Outcome::error: return nullptr;
    case Outcome::timed_out: Py_RETURN_FALSE;
    case Outcome::acquired: break;
  }
  Py_RETURN_TRUE;
}

PyObject* semaphore_acquire(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (no_arguments(count, names)) return acquire_until(semaphore_of(object), never);
  const auto deadline = semaphore_deadline(args, count, names);
  return deadline ? acquire_until(semaphore_of(object), *deadline) : nullptr;
}

PyObject* semaphore_enter(PyObject* object, PyObject*) { return acquire_until(semaphore_of(object), never); }

// The argument of release(n=1). 0: an exception is set.
std::uint64_t release_count(SemaphoreObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  if (count + named == 0) return 1;
  if (count + named > 1 || (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "n") != 0)) {
    PyErr_SetString(PyExc_TypeError, "release() takes at most one argument: n");
    return 0;
  }
  if (!expect_integer(args[0], "n")) return 0;
  int overflow = 0;
  const long long n = PyLong_AsLongLongAndOverflow(args[0], &overflow);
  if (n == -1 && PyErr_Occurred() != nullptr) return 0;
  if (overflow < 0 || (overflow == 0 && n < 1)) {
    if (overflow == 0) PyErr_Format(PyExc_ValueError, "n must be one or more, not %lld", n);
    else PyErr_SetString(PyExc_ValueError, "n must be one or more");
    return 0;
  }
  if (overflow > 0 || static_cast<std::uint64_t>(n) > max_permits(*self->algorithm)) {
    raise_too_many_permits(self);
    return 0;
  }
  return static_cast<std::uint64_t>(n);
}

bool give_if_they_fit(SemaphoreObject* self, std::uint64_t n) {
  const bool fit = permits(self) <= static_cast<std::int64_t>(max_permits(*self->algorithm) - n);
  if (fit) give(self, n);
  return fit;
}

PyObject* release_unbounded(SemaphoreObject* self) {
  if (!give_if_they_fit(self, 1)) [[unlikely]]
    return raise_too_many_permits(self);
  Py_RETURN_NONE;
}

PyObject* release_several(SemaphoreObject* self, std::uint64_t n) {
  bool fit;
#ifdef Py_GIL_DISABLED  // one at a time: each of two large releases may fit alone, but not both
  Py_BEGIN_CRITICAL_SECTION(self);
#endif
  fit = give_if_they_fit(self, n);
#ifdef Py_GIL_DISABLED
  Py_END_CRITICAL_SECTION();
#endif
  if (!fit) return raise_too_many_permits(self);
  Py_RETURN_NONE;
}

PyObject* semaphore_release(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  SemaphoreObject* const self = semaphore_of(object);
  if (no_arguments(count, names)) return release_unbounded(self);
  const std::uint64_t n = release_count(self, args, count, names);
  return n == 0 ? nullptr : release_several(self, n);
}

PyObject* semaphore_exit(PyObject* object, PyObject* const*, Py_ssize_t) { return release_one(object); }

bool within_bound(const SemaphoreObject* self, std::uint64_t n) {
  return value(self) <= self->initial && n <= static_cast<std::uint64_t>(self->initial - value(self));
}

// The check and the release must be one step, or two threads could exceed the bound together. An acquire in between
// only makes room.
PyObject* release_within_bound(SemaphoreObject* self, std::uint64_t n) {
  bool fits;
#ifdef Py_GIL_DISABLED
  Py_BEGIN_CRITICAL_SECTION(self);
#endif
  fits = within_bound(self, n);
  if (fits) give(self, n);
#ifdef Py_GIL_DISABLED
  Py_END_CRITICAL_SECTION();
#endif
  if (fits) Py_RETURN_NONE;
  PyErr_Format(PyExc_ValueError, "Semaphore released too many times: it began with %lld permit%s",
               static_cast<long long>(self->initial), self->initial == 1 ? "" : "s");
  return nullptr;
}

PyObject* bounded_release(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  SemaphoreObject* const self = semaphore_of(object);
  const std::uint64_t n = no_arguments(count, names) ? 1 : release_count(self, args, count, names);
  return n == 0 ? nullptr : release_within_bound(self, n);
}

PyObject* semaphore_repr(PyObject* object) {
  const SemaphoreObject* const self = semaphore_of(object);
  return PyUnicode_FromFormat("<%s at %p: value=%lld>", Py_TYPE(object)->tp_name, object,
                              static_cast<long long>(value(self)));
}

PyObject* bounded_repr(PyObject* object) {
  const SemaphoreObject* const self = semaphore_of(object);
  return PyUnicode_FromFormat("<%s at %p: value=%lld/%lld>", Py_TYPE(object)->tp_name, object,
                              static_cast<long long>(value(self)), static_cast<long long>(self->initial));
}

PyObject* semaphore_at_fork_reinit(PyObject* object, PyObject*) {
  SemaphoreObject* const self = semaphore_of(object);
  reset(self, static_cast<std::uint64_t>(self->initial));
  Py_RETURN_NONE;
}

PyObject* get_value(PyObject* object, void*) { return PyLong_FromLongLong(value(semaphore_of(object))); }
PyObject* get_initial(PyObject* object, void*) { return PyLong_FromLongLong(semaphore_of(object)->initial); }

PyDoc_STRVAR(acquire_doc,
             "acquire($self, /, blocking=True, timeout=None)\n--\n\n"
             "Take a permit. Return True, or False if the timeout expires first.\n\n"
             "timeout is in seconds; None waits without a limit, and 0 tries once, like blocking=False. So does\n"
             "a negative timeout. A waiter with a timeout takes its place in line like any other. A signal\n"
             "handler that raises (Ctrl-C) ends the wait of the main thread, and no permit is taken.\n\n"
             "Raises ValueError for a timeout with blocking=False, OverflowError for a timeout above\n"
             "TIMEOUT_MAX.");
PyDoc_STRVAR(release_doc,
             "release($self, /, n=1)\n--\n\n"
             "Add n permits. Never blocks.\n\n"
             "Any thread may call it. Raises ValueError if n is less than one, OverflowError if there would\n"
             "be more permits than the algorithm can count.");
PyDoc_STRVAR(bounded_release_doc,
             "release($self, /, n=1)\n--\n\n"
             "Give back n permits. Never blocks.\n\n"
             "Any thread may call it. Raises ValueError, and gives back none, if n is less than one or if there\n"
             "would be more permits than at the start.");
PyDoc_STRVAR(semaphore_doc,
             "Semaphore(value=1, algorithm='fair-semaphore', *, waiting='spin-then-park')\n--\n\n"
             "A semaphore that starves no thread, with the interface of threading.Semaphore.\n\n"
             "It starts with value permits. Any thread may release, even one that holds no permit.\n\n"
             "algorithm is a name from the catalogue. Under 'fair-semaphore', a thread that finds a permit takes\n"
             "it. While threads keep all permits taken, newcomers pass the first waiter at most 512 times, and\n"
             "for about 125 microseconds. 'ticket-semaphore' and 'twa-semaphore' are strictly first come, first\n"
             "served. An unknown name raises ValueError with a list of all names, and so does a negative value.\n\n"
             "waiting is the policy of the waiters: 'spin-then-park' spins briefly and then sleeps, 'park' sleeps\n"
             "at once, and 'yield', 'monitor' and 'spin' never sleep.\n\n"
             "In the child of a fork, no thread waits. Permits that other threads held stay taken.\n\n"
             "An acquire that does not wait costs less than with threading.Semaphore: `fairlock bench python`\n"
             "measures both. A thread that waits releases the GIL.");
PyDoc_STRVAR(bounded_doc,
             "BoundedSemaphore(value=1, algorithm='fair-semaphore', *, waiting='spin-then-park')\n--\n\n"
             "A Semaphore that never has more permits than at the start.\n\n"
             "A release() beyond that raises ValueError: a permit was released twice. Otherwise it behaves like a\n"
             "Semaphore.");

PyMethodDef semaphore_methods[] = {
    {"acquire", method(&semaphore_acquire), METH_FASTCALL | METH_KEYWORDS, acquire_doc},
    {"release", method(&semaphore_release), METH_FASTCALL | METH_KEYWORDS, release_doc},
    {"__enter__", &semaphore_enter, METH_NOARGS, enter_doc},
    {"__exit__", method(&semaphore_exit), METH_FASTCALL, exit_doc},
    {"statistics", &primitive_statistics, METH_NOARGS, statistics_doc},
    {"_at_fork_reinit", &semaphore_at_fork_reinit, METH_NOARGS, nullptr},
    {"__reduce__", &refuse_to_pickle, METH_NOARGS, nullptr},
    {},
};

PyMethodDef bounded_methods[] = {
    {"release", method(&bounded_release), METH_FASTCALL | METH_KEYWORDS, bounded_release_doc},
    {},
};

PyGetSetDef semaphore_getters[] = {
    {"algorithm", &get_algorithm, nullptr, algorithm_doc, nullptr},
    {"policy", &get_policy, nullptr, policy_doc, nullptr},
    {"waiters", &get_waiters, nullptr, "The number of threads that wait for a permit now.", nullptr},
    {"waiting", &refuse_waiting, nullptr, waiting_doc, nullptr},
    {"_value", &get_value, nullptr, "The number of available permits.", nullptr},
    {},
};

PyGetSetDef bounded_getters[] = {
    {"_initial_value", &get_initial, nullptr, "The number of permits at the start.", nullptr},
    {},
};

PyType_Slot semaphore_slots[] = {
    {Py_tp_doc, const_cast<char*>(semaphore_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&new_semaphore)},
    {Py_tp_init, reinterpret_cast<void*>(&init_semaphore)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&primitive_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(&primitive_traverse)},
    {Py_tp_repr, reinterpret_cast<void*>(&semaphore_repr)},
    {Py_tp_methods, semaphore_methods},
    {Py_tp_getset, semaphore_getters},
    {Py_tp_members, primitive_members},
    {0, nullptr},
};

PyType_Slot bounded_slots[] = {
    {Py_tp_doc, const_cast<char*>(bounded_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&new_bounded)},
    {Py_tp_init, reinterpret_cast<void*>(&init_semaphore)},
    {Py_tp_traverse, reinterpret_cast<void*>(&primitive_traverse)},
    {Py_tp_repr, reinterpret_cast<void*>(&bounded_repr)},
    {Py_tp_methods, bounded_methods},
    {Py_tp_getset, bounded_getters},
    {0, nullptr},
};

}  // namespace

PyType_Spec semaphore_spec{"fairlock.Semaphore", sizeof(SemaphoreObject), 0, type_flags, semaphore_slots};
PyType_Spec bounded_semaphore_spec{"fairlock.BoundedSemaphore", sizeof(SemaphoreObject), 0, type_flags, bounded_slots};

PyObject* release_one(PyObject* object) {
  SemaphoreObject* const self = semaphore_of(object);
  return self->kind == Kind::bounded_semaphore ? release_within_bound(self, 1) : release_unbounded(self);
}

bool release_one_detached(Primitive* semaphore) {
  auto* const self = static_cast<SemaphoreObject*>(semaphore);
  if (self->kind != Kind::bounded_semaphore) return give_if_they_fit(self, 1);
  if (!within_bound(self, 1)) return false;
  give(self, 1);
  return true;
}

// The permits that vanished waiters claimed have no owner, and are therefore available again.
void repair_semaphore(const LostWaits& lost) {
  SemaphoreObject* const self = semaphore_of(lost.object);
  const auto available = permits(self) + static_cast<std::int64_t>(lost.permits_claimed);
  reset(self, static_cast<std::uint64_t>(std::max(available, std::int64_t{0})));
}

}  // namespace fairlock::python
