// SPDX-License-Identifier: Apache-2.0
/* fairlock for extension modules, in C, C++ or Cython: take a fairlock lock without a Python call.
 *
 *   static const fairlock_api *fairlock;                  once, in the module's init function:
 *   fairlock = fairlock_import();                         NULL: fairlock cannot be imported, and an exception is set
 *
 *   attached to the interpreter (with the GIL):           1 done, 0 the time ran out, -1 an exception is set
 *     fairlock->acquire(lock, timeout)
 *     fairlock->release(lock)
 *   detached from it (Py_BEGIN_ALLOW_THREADS, nogil):     1 done, 0 the time ran out, or release() of what is not held
 *     fairlock->acquire_detached(lock, timeout)
 *     fairlock->release_detached(lock)
 *
 * `lock` is a fairlock.Lock, RLock, Semaphore or BoundedSemaphore that the caller has a reference to; check() tells. A timeout is in
 * nanoseconds; negative: for ever, 0: look once. acquire() detaches while it waits, so other Python threads run, and a signal handler
 * that raises ends the wait. acquire_detached() does not look at signals. release_detached() of a BoundedSemaphore looks first and
 * releases then: of several that are too many, and come at the same time, more than one may succeed. An RLock that is held by the
 * calling thread is acquired once more; threads that Python does not know may use the detached functions.
 */
#ifndef FAIRLOCK_PYTHON_H
#define FAIRLOCK_PYTHON_H

#include <Python.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAIRLOCK_API_VERSION 1

typedef struct {
  int version; /* functions are only ever added at the end, and this counts up */
  int (*check)(PyObject* object);
  int (*acquire)(PyObject* lock, int64_t timeout);
  int (*release)(PyObject* lock);
  int (*acquire_detached)(PyObject* lock, int64_t timeout);
  int (*release_detached)(PyObject* lock);
} fairlock_api;

static inline const fairlock_api* fairlock_import(void) {
  const fairlock_api* const api = (const fairlock_api*)PyCapsule_Import("fairlock._locks.c_api", 0);
  if (api != NULL && api->version < FAIRLOCK_API_VERSION) {
    PyErr_Format(PyExc_ImportError, "this extension needs a newer fairlock: pip install --upgrade fairlock");
    return NULL;
  }
  return api;
}

#ifdef __cplusplus
}
#endif

#endif
