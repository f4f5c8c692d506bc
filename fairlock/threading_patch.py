# SPDX-License-Identifier: Apache-2.0
"""Replace the types of ``threading`` for the whole process, and put them back."""

from __future__ import annotations

import threading

from fairlock._locks import BoundedSemaphore, Condition, Lock, RLock, Semaphore
from fairlock.events import Barrier, Event

# What `threading` has under a name, and what takes its place.
#
# _CRLock is what the function threading.RLock makes: whoever wrote `from threading import RLock` early gets ours too.
# These stay:
# - _allocate_lock: old Conditions make one for each wait, to be woken by, and up to 3.12 threading guards its list of
#   threads with one. Nobody waits in line for the first, and the second is needed after everything of ours is gone.
# - _RLock, _PyRLock: the implementation in Python, for interpreters without the one in C. Nobody makes locks of it.
# - _LockType (3.13 and newer): the type of the locks that are not ours, for isinstance.
# - everything in `_thread`: the import system and the interpreter's own modules take their locks there, before
#   anything of ours can be imported.
_OURS: dict[str, object] = {
    "Lock": Lock,
    "RLock": RLock,
    "_CRLock": RLock,
    "Semaphore": Semaphore,
    "BoundedSemaphore": BoundedSemaphore,
    "Condition": Condition,
    "Event": Event,
    "Barrier": Barrier,
}

_replaced: dict[str, object] = {}
_guard = threading.Lock()


def install() -> None:
    """Do what ``fairlock.install()`` promises."""
    with _guard:
        for name, ours in _OURS.items():
            present = getattr(threading, name)
            if present is not ours:
                _replaced[name] = present
                setattr(threading, name, ours)


def uninstall() -> None:
    """Do what ``fairlock.uninstall()`` promises."""
    with _guard:
        for name in list(_replaced):
            if getattr(threading, name) is _OURS[name]:
                setattr(threading, name, _replaced.pop(name))
