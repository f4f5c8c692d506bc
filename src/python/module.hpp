// SPDX-License-Identifier: Apache-2.0
// The native module fairlock._locks: its types, and the functions that link them.
#pragma once

#include <fairlock/statistics.hpp>

#include "python.hpp"
#include "wait_registry.hpp"

namespace fairlock::python {

struct ModuleState {
  PyTypeObject *lock, *rlock, *semaphore, *bounded_semaphore, *condition, *capacitor, *statistics;
};

extern PyModuleDef module_definition;

// The state of the module that defines `type`, or a base class of it.
ModuleState& module_state(PyTypeObject* type);

PyObject* new_statistics(PyObject* object, const Statistics& statistics);

extern PyType_Spec lock_spec, rlock_spec, semaphore_spec, bounded_semaphore_spec, condition_spec, capacitor_spec;

// In the child of a fork: empty the line. A lock stays held if it has an owner, and permits that were on their way to
// vanished threads are available again. A thread whose signal handler forks in a wait on a condition stays in line, and
// a vanished waiter may have taken the lock of the condition again.
void repair_lock(PyObject* lock);
void repair_semaphore(const LostWaits& semaphore);
void repair_condition(PyObject* condition);

}  // namespace fairlock::python
