// SPDX-License-Identifier: Apache-2.0
// The module fairlock._locks.
#include "module.hpp"

#include "c_api.hpp"
#include "fork.hpp"
#include "timeout.hpp"
#include "wait_registry.hpp"

namespace fairlock::python {

namespace {

ModuleState& state_of(PyObject* module) { return *static_cast<ModuleState*>(PyModule_GetState(module)); }

// --- functions ---

PyObject* waits(PyObject*, PyObject*) {
  PyObject* const list = PyList_New(0);
  const auto current = current_waits();
  const auto now = steady_now();  // after the last wait began
  for (const auto& [thread, object, since] : current) {
    // Py_BuildValue steals the reference to the object, even if it fails.
    PyObject* const item = list == nullptr
                               ? (Py_DECREF(object), nullptr)
                               : Py_BuildValue("(kNd)", thread, object, static_cast<double>(now - since) / 1e9);
    if (item != nullptr) PyList_Append(list, item);
    Py_XDECREF(item);
  }
  return list;
}

PyMethodDef functions[] = {
    {"after_fork_in_child", &after_fork_in_child, METH_NOARGS,
     "after_fork_in_child($module, /)\n--\n\nFor os.register_at_fork(): forget the waits of vanished threads."},
    {"waits", &waits, METH_NOARGS,
     "waits($module, /)\n--\n\nReturn a tuple (thread ident, object, seconds) for each present wait."},
    {},
};

// --- statistics ---

PyStructSequence_Field statistics_fields[] = {
    {"contended", "acquisitions that had to wait"},
    {"woken", "contended acquisitions that slept until their turn came"},
    {"parks", "the number of times that a thread fell asleep"},
    {"abandoned", "acquisitions that gave up, at a timeout or a signal"},
    {"waited", "the total wait of the contended acquisitions, in seconds"},
    {"longest", "the longest wait, in seconds, whether it succeeded or not"},
    {nullptr, nullptr},
};
PyStructSequence_Desc statistics_description{
    "fairlock.Statistics", "The contended acquisitions of a lock or a semaphore so far, as a named tuple.",
    statistics_fields, 6};

// --- the module ---

PyTypeObject* add_type(PyObject* module, PyType_Spec& spec, PyTypeObject* base = nullptr) {
  PyObject* const type = PyType_FromModuleAndSpec(module, &spec, reinterpret_cast<PyObject*>(base));
  if (type == nullptr || PyModule_AddType(module, as<PyTypeObject>(type)) < 0) {
    Py_XDECREF(type);
    return nullptr;
  }
  return as<PyTypeObject>(type);
}

bool add_object(PyObject* module, const char* name, PyObject* object) {
  const bool added = object != nullptr && PyModule_AddObjectRef(module, name, object) == 0;
  Py_XDECREF(object);
  return added;
}

// Does nothing on a system without fork.
bool register_at_fork(PyObject* module) {
  PyObject* const os = PyImport_ImportModule("os");
  if (os == nullptr) return false;
  PyObject* const registrar = PyObject_GetAttrString(os, "register_at_fork");
  Py_DECREF(os);
  if (registrar == nullptr) {
    PyErr_Clear();
    return true;
  }
  PyObject* const hook = PyObject_GetAttrString(module, "after_fork_in_child");
  PyObject* const names = hook == nullptr ? nullptr : Py_BuildValue("{sN}", "after_in_child", hook);
  PyObject* const no_args = PyTuple_New(0);
  PyObject* const done = names == nullptr || no_args == nullptr ? nullptr : PyObject_Call(registrar, no_args, names);
  Py_XDECREF(done);
  Py_XDECREF(no_args);
  Py_XDECREF(names);
  Py_DECREF(registrar);
  return done != nullptr;
}

int execute(PyObject* module) {
  if (this_thread() != PyThread_get_thread_ident()) {
    PyErr_SetString(
        PyExc_ImportError,
        "fairlock was built for another C library; build it here: pip install --no-binary fairlock fairlock");
    return -1;
  }
  ModuleState& state = state_of(module);
  state.statistics = PyStructSequence_NewType(&statistics_description);
  if (!register_at_fork(module) || (state.lock = add_type(module, lock_spec)) == nullptr ||
      (state.rlock = add_type(module, rlock_spec)) == nullptr ||
      (state.semaphore = add_type(module, semaphore_spec)) == nullptr ||
      (state.bounded_semaphore = add_type(module, bounded_semaphore_spec, state.semaphore)) == nullptr ||
      (state.condition = add_type(module, condition_spec)) == nullptr ||
      (state.capacitor = add_type(module, capacitor_spec)) == nullptr || state.statistics == nullptr ||
      PyModule_AddType(module, state.statistics) < 0)
    return -1;
  return add_object(module, "TIMEOUT_MAX", PyFloat_FromDouble(timeout_max)) && add_object(module, "c_api", new_c_api())
             ? 0
             : -1;
}

template <class F>
void for_each_type(ModuleState& state, F visit) {
  for (PyTypeObject** type : {&state.lock, &state.rlock, &state.semaphore, &state.bounded_semaphore, &state.condition,
                              &state.capacitor, &state.statistics})
    visit(*type);
}

int traverse(PyObject* module, visitproc visit, void* arg) {
  int result = 0;
  for_each_type(state_of(module), [&](PyTypeObject*& type) {
    if (result == 0 && type != nullptr) result = visit(reinterpret_cast<PyObject*>(type), arg);
  });
  return result;
}

int clear(PyObject* module) {
  for_each_type(state_of(module), [](PyTypeObject*& type) { Py_CLEAR(type); });
  return 0;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(&execute)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

}  // namespace

PyModuleDef module_definition{
    PyModuleDef_HEAD_INIT,
    "fairlock._locks",
    "The native types of fairlock. Import them from fairlock.",
    sizeof(ModuleState),
    functions,
    slots,
    &traverse,
    &clear,
    nullptr,
};

ModuleState& module_state(PyTypeObject* type) { return state_of(PyType_GetModuleByDef(type, &module_definition)); }

PyObject* new_statistics(PyObject* object, const Statistics& statistics) {
  PyObject* const result = PyStructSequence_New(module_state(Py_TYPE(object)).statistics);
  if (result == nullptr) return nullptr;
  PyObject* const values[] = {
      PyLong_FromUnsignedLongLong(statistics.contended),
      PyLong_FromUnsignedLongLong(statistics.woken),
      PyLong_FromUnsignedLongLong(statistics.parks),
      PyLong_FromUnsignedLongLong(statistics.abandoned),
      PyFloat_FromDouble(static_cast<double>(statistics.waited) / 1e9),
      PyFloat_FromDouble(static_cast<double>(statistics.longest) / 1e9),
  };
  for (Py_ssize_t i = 0; i < 6; ++i) {
    PyStructSequence_SetItem(result, i, values[i]);
    if (values[i] == nullptr) {
      Py_DECREF(result);
      return nullptr;
    }
  }
  return result;
}

}  // namespace fairlock::python

PyMODINIT_FUNC PyInit__locks() { return PyModuleDef_Init(&fairlock::python::module_definition); }
