// SPDX-License-Identifier: Apache-2.0
// Timeouts as Python's callers give them, turned into deadlines.
#pragma once

#include <cstdint>
#include <optional>

#include "python.hpp"

namespace fairlock::python {

// threading.TIMEOUT_MAX, in seconds: what fits into 63 bits of nanoseconds.
inline constexpr double timeout_max = 9223372036.0;

// How long acquire may wait. A deadline of 0: look once, and do not wait.
using DeadlineOrError = std::optional<std::uint64_t>;

// Seconds from now as a deadline of the steady clock; nothing: an exception is set. Below 0 it has passed.
DeadlineOrError deadline_after(PyObject* seconds);

// So many nanoseconds from now; negative: never.
std::uint64_t deadline_in_nanoseconds(std::int64_t timeout);

// acquire(blocking=True, timeout=-1) of a lock, where -1 means for ever and other negative numbers are an error.
DeadlineOrError lock_deadline(PyObject* const* args, Py_ssize_t count, PyObject* names);

// acquire(blocking=True, timeout=None) of a semaphore, where negative timeouts are over at once.
DeadlineOrError semaphore_deadline(PyObject* const* args, Py_ssize_t count, PyObject* names);

}  // namespace fairlock::python
