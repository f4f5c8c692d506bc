// SPDX-License-Identifier: Apache-2.0
// Converts the timeouts that callers pass into deadlines.
#pragma once

#include <cstdint>
#include <optional>

#include "python.hpp"

namespace fairlock::python {

// threading.TIMEOUT_MAX, in seconds: the longest time that 63 bits of nanoseconds hold.
inline constexpr double timeout_max = 9223372036.0;

// A deadline of the steady clock, in nanoseconds. 0: try once, and do not wait. No value: an exception is set.
using DeadlineOrError = std::optional<std::uint64_t>;

// `seconds` from now. A negative number is a deadline that has passed.
DeadlineOrError deadline_after(PyObject* seconds);

// `timeout` nanoseconds from now; negative: never.
std::uint64_t deadline_in_nanoseconds(std::int64_t timeout);

// For acquire(blocking=True, timeout=-1) of a lock: -1 means no limit, and other negative numbers are an error.
DeadlineOrError lock_deadline(PyObject* const* args, Py_ssize_t count, PyObject* names);

// For acquire(blocking=True, timeout=None) of a semaphore: None means no limit, and a negative timeout expires at once.
DeadlineOrError semaphore_deadline(PyObject* const* args, Py_ssize_t count, PyObject* names);

}  // namespace fairlock::python
