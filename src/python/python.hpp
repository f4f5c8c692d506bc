// SPDX-License-Identifier: Apache-2.0
// Python's C API, and small helpers for it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <structmember.h>  // for the member kinds of 3.11

namespace fairlock::python {

// The ident of the calling thread: threading.get_ident().
inline unsigned long this_thread() {
#if defined(__x86_64__) && defined(__GLIBC__)
  return reinterpret_cast<unsigned long>(__builtin_thread_pointer());  // the value of pthread_self(), without the call
#else
  return PyThread_get_thread_ident();
#endif
}

#ifdef Py_GIL_DISABLED
inline constexpr bool free_threaded = true;
#else
inline constexpr bool free_threaded = false;
#endif

// Whether a method was called without arguments: the common case, which must be fast.
inline bool no_arguments(Py_ssize_t count, PyObject* names) { return count == 0 && names == nullptr; }

template <class T>
T* as(PyObject* object) {
  return reinterpret_cast<T*>(object);
}

// Whether an argument is an integer. False: an exception is set.
inline bool expect_integer(PyObject* object, const char* argument) {
  if (PyIndex_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "%s must be an integer, not %.100s", argument, Py_TYPE(object)->tp_name);
  return false;
}

// The flags of all types.
inline constexpr unsigned type_flags =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE;

template <class F>
PyCFunction method(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace fairlock::python
