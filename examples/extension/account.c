// SPDX-License-Identifier: Apache-2.0
/* An extension module that holds a fairlock lock while it runs without the GIL.
 *
 *   cc -O2 -shared -fPIC $(python3-config --includes) -I$(python3 -m fairlock --include) account.c -o account.so
 *
 *   >>> import account, fairlock
 *   >>> lock = fairlock.Lock()
 *   >>> account.deposit(lock, 1000000)     other Python threads run meanwhile, and may use the same lock
 *   >>> account.balance(lock)
 *   1000000
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fairlock/python.h>

static const fairlock_api* fairlock;
static long total; /* protected by the lock */

static PyObject* deposit(PyObject* Py_UNUSED(module), PyObject* args) {
  PyObject* lock;
  long coins;
  if (!PyArg_ParseTuple(args, "Ol:deposit", &lock, &coins)) return NULL;
  if (!fairlock->check(lock)) return PyErr_Format(PyExc_TypeError, "expected a fairlock lock");
  PyThreadState* const state = PyEval_SaveThread(); /* the caller's reference keeps the lock alive */
  for (long i = 0; i < coins; ++i) {
    fairlock->acquire_detached(lock, -1);
    ++total;
    fairlock->release_detached(lock);
  }
  PyEval_RestoreThread(state);
  Py_RETURN_NONE;
}

static PyObject* balance(PyObject* Py_UNUSED(module), PyObject* lock) {
  if (fairlock->acquire(lock, -1) < 0) return NULL; /* Ctrl-C, or the object is not a lock */
  const long result = total;
  if (fairlock->release(lock) < 0) return NULL;
  return PyLong_FromLong(result);
}

static PyMethodDef functions[] = {
    {"deposit", deposit, METH_VARARGS, "deposit(lock, coins): add coins one by one, each under the lock."},
    {"balance", balance, METH_O, "balance(lock): return the number of coins."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject* Py_UNUSED(module)) { return (fairlock = fairlock_import()) == NULL ? -1 : 0; }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void*)execute},
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "account", NULL, 0, functions, slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_account(void) { return PyModuleDef_Init(&definition); }
