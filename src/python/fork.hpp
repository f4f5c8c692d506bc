// SPDX-License-Identifier: Apache-2.0
// The repair in the child of a fork: the waiting threads are gone, so their lines must be empty.
#pragma once

#include <cstdint>

#include "python.hpp"

namespace fairlock::python {

// The number of forks between the first process and this one.
std::uint64_t fork_generation();

// The hook for os.register_at_fork().
PyObject* after_fork_in_child(PyObject* module, PyObject*);

}  // namespace fairlock::python
