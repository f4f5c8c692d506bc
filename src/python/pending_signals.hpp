// SPDX-License-Identifier: Apache-2.0
// Whether a signal has arrived whose Python handler has not run yet. The check is one load, and needs no attached
// thread state.
//
// The C API offers only PyErr_CheckSignals(), which needs an attached thread state and runs the handlers at once. A
// thread that waits in line must know beforehand: it runs the handlers out of line, and should not leave the line for
// nothing.
#pragma once

#include "python.hpp"

namespace fairlock::python {

#if PY_VERSION_HEX >= 0x030D0000

// `state` is the state of the main thread in the main interpreter.
inline bool signals_pending(PyThreadState* state) {
  constexpr std::uintptr_t signals_pending_bit = 1 << 1;  // _PY_SIGNALS_PENDING_BIT of CPython's pycore_ceval.h
  return (__atomic_load_n(&state->eval_breaker, __ATOMIC_RELAXED) & signals_pending_bit) != 0;
}

#else

extern "C" int fairlock_signals_pending(void);  // pending_signals.c
inline bool signals_pending(PyThreadState*) { return fairlock_signals_pending() != 0; }

#endif

}  // namespace fairlock::python
