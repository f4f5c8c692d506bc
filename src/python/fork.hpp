// SPDX-License-Identifier: Apache-2.0
// What the child of a fork does before anything else: the threads that waited are gone, and the lines must be empty.
#pragma once

#include <cstdint>

#include "python.hpp"

namespace fairlock::python {

// How many forks lie between this process and the first one.
std::uint64_t fork_generation();

PyObject* after_fork_in_child(PyObject* module, PyObject*);

}  // namespace fairlock::python
