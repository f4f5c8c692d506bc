// SPDX-License-Identifier: Apache-2.0
#include "fork.hpp"

#include <fairlock/platform/fork.hpp>

#include "algorithm.hpp"
#include "module.hpp"
#include "wait.hpp"
#include "waits.hpp"

namespace fairlock::python {

namespace {

std::uint64_t generation = 0;  // written where there is only one thread

}  // namespace

std::uint64_t fork_generation() { return generation; }

PyObject* after_fork_in_child(PyObject* module, PyObject*) {
  ++generation;
  set_main_thread(this_thread());
  fairlock::after_fork_in_child<DefaultPlatform>();
  const ModuleState& state = *static_cast<ModuleState*>(PyModule_GetState(module));
  for (const WaitedFor& waited_for : forget_other_threads()) {
    PyObject* const object = waited_for.object;
    if (PyObject_TypeCheck(object, state.lock) || PyObject_TypeCheck(object, state.rlock)) mend_lock(object);
    else if (PyObject_TypeCheck(object, state.semaphore)) mend_semaphore(waited_for);
    else if (!PyObject_TypeCheck(object, state.condition)) continue;
    else if (waited_for.mine_too) mend_lock_of_condition(object);
    else mend_condition(object);
  }
  Py_RETURN_NONE;
}

}  // namespace fairlock::python
