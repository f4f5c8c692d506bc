// SPDX-License-Identifier: Apache-2.0
// Semaphores for the other parts of the module.
#pragma once

#include "primitive.hpp"

namespace fairlock::python {

// None, or null and an exception: release() of a Semaphore or a BoundedSemaphore. The caller is attached to the
// interpreter.
PyObject* release_one(PyObject* semaphore);

// The same for whoever may be detached; false: that would be too many.
bool release_one_detached(Primitive* semaphore);

}  // namespace fairlock::python
