// SPDX-License-Identifier: Apache-2.0
/* fairlock for extension modules in C, C++ or Cython: acquire a fairlock lock without a Python call.
 *
 *   static const fairlock_api *fairlock;                  once, in the module's init function:
 *   fairlock = fairlock_import();                         NULL: fairlock cannot be imported, and an exception is set
 *
 *   attached to the interpreter (with the GIL):           1 done, 0 timed out, -1 an exception is set
 *     fairlock->acquire(lock, timeout)
 *     fairlock->release(lock)
 *   detached from it (Py_BEGIN_ALLOW_THREADS, nogil):     1 done, 0 timed out, or release() of a lock that is not held
 *     fairlock->acquire_detached(lock, timeout)
 *     fairlock->release_detached(lock)
 *
 * `lock` is a fairlock.Lock, RLock, Semaphore or BoundedSemaphore: check() tests that. The caller must hold a
 * reference to it. A timeout is in nanoseconds. If it is negative, the wait has no limit. If it is 0, the thread tries
 * once.
 *
 * acquire() detaches while it waits, so other Python threads run. A signal handler that raises ends the wait.
 * acquire_detached() does not check for signals. release_detached() of a BoundedSemaphore checks its value and then
 * releases, so several releases beyond the bound may succeed if they come at the same time.
 *
 * A thread that holds an RLock and acquires it again holds it once more. A thread that Python does not know may use the
 * detached functions.
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
  int version; /* grows with each new function; new functions come at the end */
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
