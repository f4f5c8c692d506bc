// SPDX-License-Identifier: Apache-2.0
// Two questions about signals that the public C API does not answer: does the calling thread run Python's signal
// handlers, and has a signal arrived whose handler has not run yet?
//
// PyErr_CheckSignals() needs an attached thread state and runs the handlers at once. A waiter must know beforehand: it
// leaves the line to run the handlers, and should not leave it for nothing.
#pragma once

#include "python.hpp"

extern "C" PyAPI_FUNC(int) _PyOS_IsMainThread(void);  // since 3.13 declared only in CPython's internal headers

namespace fairlock::python {

// Only the main thread of the main interpreter runs them. The caller is attached.
inline bool runs_signal_handlers() { return _PyOS_IsMainThread() != 0; }

// Whether a handler is due. One load, which needs no attached thread state.
#if PY_VERSION_HEX >= 0x030D0000

// `state` is the thread state of the main thread in the main interpreter.
inline bool signals_pending(PyThreadState* state) {
  constexpr std::uintptr_t signals_pending_bit = 1 << 1;  // _PY_SIGNALS_PENDING_BIT of CPython's pycore_ceval.h
  return (__atomic_load_n(&state->eval_breaker, __ATOMIC_RELAXED) & signals_pending_bit) != 0;
}

#else

extern "C" int fairlock_signals_pending(void);  // pending_signals.c
inline bool signals_pending(PyThreadState*) { return fairlock_signals_pending() != 0; }

#endif

}  // namespace fairlock::python
