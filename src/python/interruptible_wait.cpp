// SPDX-License-Identifier: Apache-2.0
#include "interruptible_wait.hpp"

namespace fairlock::python {

namespace {

struct Exception {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;

  static Exception fetch() {
    Exception raised;
    PyErr_Fetch(&raised.type, &raised.value, &raised.trace);
    return raised;
  }
  void restore() const { PyErr_Restore(type, value, trace); }

  void normalize() {
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != nullptr) PyException_SetTraceback(value, trace);
  }
};

// How far to follow the chain of contexts of an exception. A program may have made the chain a cycle.
constexpr unsigned max_contexts = 1000;

PyObject* context_of(PyObject* exception) {
  PyObject* const context = PyException_GetContext(exception);
  Py_XDECREF(context);  // the exception keeps it
  return context;
}

// Appends `earlier` to the chain of contexts of the exception that is set, unless that would make a cycle.
void chain(Exception earlier) {
  earlier.normalize();
  Exception now = Exception::fetch();
  now.normalize();
  PyObject* last = now.value;
  unsigned contexts = 0;
  while (last != earlier.value && contexts != max_contexts && context_of(last) != nullptr) {
    last = context_of(last);
    ++contexts;
  }
  bool append = last != earlier.value && contexts != max_contexts;
  for (PyObject* each = earlier.value; append && each != nullptr; each = context_of(each)) {
    append = each != now.value && each != last && ++contexts < max_contexts;
  }
  if (append) PyException_SetContext(last, Py_NewRef(earlier.value));
  Py_DECREF(earlier.type);
  Py_DECREF(earlier.value);
  Py_XDECREF(earlier.trace);
  now.restore();
}

}  // namespace

void InterruptibleWait::handle_signals() const {
  signalled_ = ignore_flag_ = false;
  PyEval_RestoreThread(state_);
  const Exception earlier = Exception::fetch();  // in an unconditional wait, an earlier handler may have raised
  bool raised = PyErr_CheckSignals() != 0;
  // The flag of pending signals stays set until the interpreter executes bytecode, and a handler may be a built-in
  // function.
  if (!raised && handler_is_due()) raised = Py_MakePendingCalls() != 0;
  if (!raised) earlier.restore();
  else if (earlier.type != nullptr) chain(earlier);
  raised_ |= raised;
  ignore_flag_ = handler_is_due();  // a flag that is still set must not keep the thread from sleeping
  state_ = PyEval_SaveThread();
  errno = 0;
}

}  // namespace fairlock::python
