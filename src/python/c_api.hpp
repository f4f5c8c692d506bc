// SPDX-License-Identifier: Apache-2.0
// The table of functions for extension modules (include/fairlock/python.h), in a capsule.
#pragma once

#include "python.hpp"

namespace fairlock::python {

PyObject* new_c_api();  // a capsule, or null and an exception

}  // namespace fairlock::python
