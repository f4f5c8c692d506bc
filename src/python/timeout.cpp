// SPDX-License-Identifier: Apache-2.0
#include "timeout.hpp"

#include <cmath>

#include <fairlock/platform/parking.hpp>
#include <fairlock/until.hpp>

namespace fairlock::python {

namespace {

std::optional<double> to_seconds(PyObject* object) {
  const PyNumberMethods* const number = Py_TYPE(object)->tp_as_number;
  if (number == nullptr || (number->nb_float == nullptr && number->nb_index == nullptr)) {
    PyErr_Format(PyExc_TypeError, "timeout must be a number of seconds, not %.100s", Py_TYPE(object)->tp_name);
    return std::nullopt;
  }
  const double seconds = PyFloat_AsDouble(object);
  if (seconds == -1.0 && PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
      PyErr_SetString(PyExc_OverflowError, "timeout value is too large: at most fairlock.TIMEOUT_MAX seconds");
    return std::nullopt;
  }
  if (std::isnan(seconds)) {
    PyErr_SetString(PyExc_ValueError, "Invalid value NaN (not a number): timeout must be a number of seconds");
    return std::nullopt;
  }
  if (seconds > timeout_max) {
    PyErr_Format(
        PyExc_OverflowError,
        "timeout value %R is too large: at most fairlock.TIMEOUT_MAX seconds; leave it out to wait without a limit",
        object);
    return std::nullopt;
  }
  return seconds;
}

std::uint64_t after(double seconds) {
  if (seconds <= 0) return 0;
  const auto nanoseconds = static_cast<std::uint64_t>(std::ceil(seconds * 1e9));
  return steady_now() + nanoseconds;
}

// Null: not given.
struct Arguments {
  PyObject* blocking = nullptr;
  PyObject* timeout = nullptr;
};

// The arguments of acquire(), by position or by name. False: an exception is set.
bool parse(PyObject* const* args, Py_ssize_t count, PyObject* names, Arguments& arguments) {
  PyObject** const places[] = {&arguments.blocking, &arguments.timeout};
  if (count > 2) {
    PyErr_Format(PyExc_TypeError, "acquire() takes at most 2 arguments (%zd given): blocking and timeout", count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) *places[i] = args[i];
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names, i);
    const int place = PyUnicode_CompareWithASCIIString(name, "blocking") == 0  ? 0
                      : PyUnicode_CompareWithASCIIString(name, "timeout") == 0 ? 1
                                                                               : -1;
    if (place < 0) {
      PyErr_Format(PyExc_TypeError, "acquire() got an unexpected keyword argument '%U': it takes blocking and timeout",
                   name);
      return false;
    }
    if (*places[place] != nullptr) {
      PyErr_Format(PyExc_TypeError, "acquire() got multiple values for argument '%U'", name);
      return false;
    }
    *places[place] = args[count + i];
  }
  return true;
}

}  // namespace

DeadlineOrError deadline_after(PyObject* object) {
  const auto seconds = to_seconds(object);
  if (!seconds) return std::nullopt;
  return after(*seconds);
}

std::uint64_t deadline_in_nanoseconds(std::int64_t timeout) {
  if (timeout < 0) return never;
  return timeout == 0 ? 0 : steady_now() + static_cast<std::uint64_t>(timeout);
}

DeadlineOrError lock_deadline(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Arguments given;
  if (!parse(args, count, names, given)) return std::nullopt;
  const int blocking = given.blocking == nullptr ? 1 : PyObject_IsTrue(given.blocking);
  if (blocking < 0) return std::nullopt;
  const auto seconds = given.timeout == nullptr ? std::optional(-1.0) : to_seconds(given.timeout);
  if (!seconds) return std::nullopt;
  if (*seconds < -timeout_max) {  // as threading.Lock does
    PyErr_Format(PyExc_OverflowError,
                 "timeout value %R is out of range: it must be non-negative, or -1 to wait without a limit",
                 given.timeout);
    return std::nullopt;
  }
  if (blocking == 0) {
    if (*seconds == -1.0) return 0;
    PyErr_SetString(PyExc_ValueError,
                    "can't specify a timeout for a non-blocking call; leave out blocking=False to wait");
    return std::nullopt;
  }
  if (*seconds == -1.0) return never;
  if (*seconds < 0) {
    PyErr_Format(PyExc_ValueError, "timeout value must be non-negative, or -1 to wait without a limit, not %R",
                 given.timeout);
    return std::nullopt;
  }
  return after(*seconds);
}

DeadlineOrError semaphore_deadline(PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Arguments given;
  if (!parse(args, count, names, given)) return std::nullopt;
  const int blocking = given.blocking == nullptr ? 1 : PyObject_IsTrue(given.blocking);
  if (blocking < 0) return std::nullopt;
  const bool timed = given.timeout != nullptr && given.timeout != Py_None;
  if (blocking == 0 && timed) {
    PyErr_SetString(PyExc_ValueError,
                    "can't specify timeout for non-blocking acquire; leave out blocking=False to wait");
    return std::nullopt;
  }
  if (blocking == 0) return 0;
  return timed ? deadline_after(given.timeout) : DeadlineOrError(never);
}

}  // namespace fairlock::python
