# SPDX-License-Identifier: Apache-2.0
"""Event and Barrier: those of ``threading``, over a condition of ours."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fairlock._locks import Condition, Lock


class Event(threading.Event):
    """A flag that threads wait for: a ``threading.Event`` whose waiters are woken in the order in which they came."""

    _cond: Any

    def __init__(self) -> None:
        self._cond = Condition(Lock())
        self._flag = False


class Barrier(threading.Barrier):
    """A point that a number of threads pass together: a ``threading.Barrier``.

    A wait at a broken barrier raises ``threading.BrokenBarrierError``.
    """

    _cond: Any

    def __init__(self, parties: int, action: Callable[[], None] | None = None, timeout: float | None = None) -> None:
        super().__init__(parties, action, timeout)
        self._cond = Condition(Lock())


for _type in (Event, Barrier):
    _type.__module__ = "fairlock"  # where users find them
