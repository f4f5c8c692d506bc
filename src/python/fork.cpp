// SPDX-License-Identifier: Apache-2.0
#include "fork.hpp"

#include <fairlock/platform/fork.hpp>

#include "algorithm_table.hpp"
#include "module.hpp"
#include "wait_registry.hpp"

namespace fairlock::python {

namespace {

std::uint64_t generation = 0;  // written while there is only one thread

}  // namespace

std::uint64_t fork_generation() { return generation; }

PyObject* after_fork_in_child(PyObject* module, PyObject*) {
  ++generation;
  fairlock::after_fork_in_child<DefaultPlatform>();
  const ModuleState& state = *static_cast<ModuleState*>(PyModule_GetState(module));
  for (const LostWaits& lost : drop_waits_of_vanished_threads()) {
    PyObject* const object = lost.object;
    if (PyObject_TypeCheck(object, state.lock) || PyObject_TypeCheck(object, state.rlock)) repair_lock(object);
    else if (PyObject_TypeCheck(object, state.semaphore)) repair_semaphore(lost);
    else if (PyObject_TypeCheck(object, state.condition)) repair_condition(object);
  }
  Py_RETURN_NONE;
}

}  // namespace fairlock::python
