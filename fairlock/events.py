# SPDX-License-Identifier: Apache-2.0
"""Event and Barrier: the types of ``threading`` over fairlock's condition."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

from fairlock._locks import Condition, Lock


class _NotCopied:
    """Refuses pickle and copy: a copy would share the condition, but not the state that the condition guards."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"cannot pickle '{type(self).__module__}.{type(self).__qualname__}' object: it belongs to one process; "
            "leave it out in __getstate__() and create a new one in __setstate__()"
        )


class Event(_NotCopied, threading.Event):
    """A flag that threads wait for, with the interface of ``threading.Event``.

    ``set()`` wakes all waiters, in order of arrival. Any thread may call ``set()`` and ``clear()``. A signal handler
    that raises (Ctrl-C) ends a wait of the main thread.

    In the child of a fork, the flag keeps its value, and no thread waits.
    """

    _cond: Any

    def __init__(self) -> None:
        self._cond = Condition(Lock())
        self._flag = False


class Barrier(_NotCopied, threading.Barrier):
    """A point that a fixed number of threads pass together, with the interface of ``threading.Barrier``.

    ``wait()`` blocks until ``parties`` threads wait, and one of them has called ``action``. It raises
    ``threading.BrokenBarrierError`` if the barrier is broken: by ``abort()``, by an ``action`` that raises, or by a
    thread whose timeout expires. A signal handler that raises (Ctrl-C) ends a wait of the main thread, and does not
    break the barrier.

    If threads wait during a fork, the child needs a new barrier, as with ``threading``.
    """

    _cond: Any

    def __init__(self, parties: int, action: Callable[[], None] | None = None, timeout: float | None = None) -> None:
        if not hasattr(parties, "__index__"):
            raise TypeError(f"parties must be an integer, not {type(parties).__name__}")
        if parties < 1:
            raise ValueError(f"parties must be > 0, not {parties}")
        super().__init__(parties, action, timeout)
        self._cond = Condition(Lock())


for _type in (Event, Barrier):
    _type.__module__ = "fairlock"  # where users import them from
