# SPDX-License-Identifier: Apache-2.0
"""``install()`` and ``uninstall()``: replace the types of ``threading`` in the whole process."""

from __future__ import annotations

import threading

from fairlock._locks import BoundedSemaphore, Condition, Lock, RLock, Semaphore
from fairlock.events import Barrier, Event

# The names of `threading` that install() replaces.
#
# The function threading.RLock creates a _CRLock. Code that ran `from threading import RLock` early therefore gets
# fairlock's type too.
#
# These names stay:
# - _allocate_lock: an old Condition creates such a lock for each wait. Up to 3.12, threading also guards its list of
#   threads with one, which it needs after fairlock's module is gone.
# - _RLock, _PyRLock: the Python implementation, for interpreters without the C one. No code creates locks of this type.
# - _LockType (3.13 and newer): the type of the original locks, for isinstance().
# - every name in `_thread`: the import system and the interpreter's own modules take their locks from there, before
#   fairlock can be imported.
_REPLACEMENTS: dict[str, object] = {
    "Lock": Lock,
    "RLock": RLock,
    "_CRLock": RLock,
    "Semaphore": Semaphore,
    "BoundedSemaphore": BoundedSemaphore,
    "Condition": Condition,
    "Event": Event,
    "Barrier": Barrier,
}

_originals: dict[str, object] = {}
_guard = threading.Lock()


def install() -> None:
    """Make ``threading`` create fairlock's locks, in all code of the process.

    ``queue``, ``concurrent.futures``, ``logging`` and ``multiprocessing.pool`` then use them too.

    Call it early: existing locks keep their type, and code that ran ``from threading import Lock`` before keeps the
    old type. A second call does nothing. A forked process inherits the change, and a spawned process must call
    ``install()``.
    """
    with _guard:
        for name, replacement in _REPLACEMENTS.items():
            current = getattr(threading, name)
            if current is not replacement:
                _originals[name] = current
                setattr(threading, name, replacement)


def uninstall() -> None:
    """Undo :func:`install`. Existing locks keep their type.

    A name of ``threading`` that other code has replaced since stays as it is. Once that code has put fairlock's type
    back, another call restores the original.
    """
    with _guard:
        for name in list(_originals):
            if getattr(threading, name) is _REPLACEMENTS[name]:
                setattr(threading, name, _originals.pop(name))


for _function in (install, uninstall):
    _function.__module__ = "fairlock"  # where users import them from
