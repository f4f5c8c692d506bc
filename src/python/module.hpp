// SPDX-License-Identifier: Apache-2.0
// The native module fairlock._locks: its types, and what they need of it.
#pragma once

#include <fairlock/statistics.hpp>

#include "python.hpp"
#include "waits.hpp"

namespace fairlock::python {

struct ModuleState {
  PyTypeObject *lock, *rlock, *semaphore, *bounded_semaphore, *condition, *capacitor, *statistics;
};

extern PyModuleDef module_definition;

// Of the module that defines the type of this object, or of a subclass of it.
ModuleState& module_state(PyTypeObject* type);

PyObject* new_statistics(PyObject* object, const Statistics& statistics);

extern PyType_Spec lock_spec, rlock_spec, semaphore_spec, bounded_semaphore_spec, condition_spec, capacitor_spec;

// In the child of a fork: with an empty line, and held as it was.
void mend_lock(PyObject* lock);
void mend_semaphore(const WaitedFor& semaphore);  // what was on its way to threads that are gone is there again
void mend_condition(PyObject* condition);
// Only its lock: the calling thread is in line for a notification. A waiter that is gone may have taken the lock again.
void mend_lock_of_condition(PyObject* condition);

}  // namespace fairlock::python
