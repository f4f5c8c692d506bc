// SPDX-License-Identifier: Apache-2.0
// release() of Semaphore and BoundedSemaphore, for the C API.
#pragma once

#include "primitive.hpp"

namespace fairlock::python {

// For an attached caller. None, or null and an exception.
PyObject* release_one(PyObject* semaphore);

// For a caller that may be detached. False: there would be too many permits, and none is given.
bool release_one_detached(Primitive* semaphore);

}  // namespace fairlock::python
