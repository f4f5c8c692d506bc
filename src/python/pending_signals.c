// SPDX-License-Identifier: Apache-2.0
/* The flag of pending signals in Python 3.11 and 3.12, which keep it in the internal state of the runtime. Since 3.13
   it is in PyThreadState (pending_signals.hpp). This file is C because the internal headers are not valid C++. */
#include <patchlevel.h>

#if PY_VERSION_HEX < 0x030D0000

#define Py_BUILD_CORE_MODULE 1
#include <Python.h>

#include <internal/pycore_runtime.h>

int fairlock_signals_pending(void);

int fairlock_signals_pending(void) {
  /* The comparison verifies that this Python has the layout of the headers: the field lies behind the flag. */
  return _PyRuntime.gilstate.autoInterpreterState == PyInterpreterState_Main() &&
         _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending);
}

#endif
