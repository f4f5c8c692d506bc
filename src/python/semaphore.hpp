// SPDX-License-Identifier: Apache-2.0
// release() of Semaphore and BoundedSemaphore, for the C API.
#pragma once

#include "primitive.hpp"

namespace fairlock::python {

// For an attached caller. Returns None, or null with an exception set.
PyObject* release_one(PyObject* semaphore);

// For a caller that may be detached. False: there would be too many permits, and none is added.
bool release_one_detached(Primitive* semaphore);

}  // namespace fairlock::python
