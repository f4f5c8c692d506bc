// SPDX-License-Identifier: Apache-2.0
// The table of functions for extension modules (include/fairlock/python.h), in a capsule.
#pragma once

#include "python.hpp"

namespace fairlock::python {

PyObject* new_c_api();  // returns a capsule, or null with an exception set

}  // namespace fairlock::python
