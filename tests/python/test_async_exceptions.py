# SPDX-License-Identifier: Apache-2.0
"""Exceptions from other threads (PyThreadState_SetAsyncExc) are raised after the wait, and never lost."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

import pytest
from support import ENOUGH, LOCKS, SEMAPHORES, Crew, eventually

import fairlock
from fairlock._locks import waits

SHORT = 0.5  # seconds: long enough to see the thread wait, even on a busy machine


class Raised(Exception):  # noqa: N818
    pass


def raise_in(thread: threading.Thread) -> None:
    assert thread.ident is not None
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Raised)) == 1


@pytest.mark.parametrize("algorithm", LOCKS + SEMAPHORES)
def test_during_acquire(algorithm: str) -> None:
    """The thread gets the lock first, then the exception, and then releases the lock."""
    lock: Any = fairlock.Lock(algorithm) if algorithm in LOCKS else fairlock.Semaphore(1, algorithm)
    for timeout in (ENOUGH, SHORT):
        owned: list[bool] = []  # whether the thread held the lock when it got the exception
        started = threading.Event()

        def wait() -> None:
            try:
                try:
                    started.set()  # noqa: B023
                    lock.acquire(timeout=timeout)  # noqa: B023
                    while True:
                        time.sleep(0.0001)
                except Raised:
                    owned.append(getattr(lock, "owner", None) == threading.get_ident())  # noqa: B023
                    if owned[0]:  # noqa: B023
                        lock.release()
            except Raised:
                pytest.fail("the exception was raised twice")

        lock.acquire()
        with Crew() as crew:
            waiter = crew.start(wait)
            eventually(lambda: lock.waiters == 1)
            raise_in(waiter)
            if timeout == ENOUGH:
                time.sleep(0.001)
                assert owned == []
                lock.release()
        if algorithm in LOCKS:
            assert owned == [timeout == ENOUGH]
        elif timeout == ENOUGH:
            lock.release()  # the waiter has the permit, but a semaphore has no owner by which it could know
        if timeout != ENOUGH:
            lock.release()
        assert lock.waiters == 0
        assert lock.acquire(timeout=0)
        lock.release()


def test_during_the_wait_for_a_notification() -> None:
    condition = fairlock.Condition(fairlock.Lock())
    held: list[bool] = []

    def wait() -> None:
        try:
            with condition:
                try:
                    condition.wait(ENOUGH)
                    while True:
                        time.sleep(0.0001)
                finally:
                    held.append(condition._lock.owner == threading.get_ident())
        except Raised:
            pass

    with Crew() as crew:
        waiter = crew.start(wait)
        eventually(lambda: condition.waiters == 1)
        raise_in(waiter)
        with condition:
            condition.notify()
    assert held == [True]
    assert condition.waiters == 0
    assert not condition._lock.locked()


def test_many_during_contended_use() -> None:
    """Only waiting threads get an exception: elsewhere, no program is safe from them."""
    for algorithm in ("fair", "twa", "hapax-vw"):
        lock = fairlock.Lock(algorithm)
        inside: list[None] = []
        owners: list[int] = []
        sent = 0
        stop = threading.Event()

        def use() -> None:
            while not stop.is_set():  # noqa: B023
                try:
                    lock.acquire()  # noqa: B023
                    assert not inside  # noqa: B023
                    inside.append(None)  # noqa: B023
                    time.sleep(0)
                    inside.clear()  # noqa: B023
                    lock.release()  # noqa: B023
                except Raised:
                    assert lock.owner == threading.get_ident()  # noqa: B023
                    owners.append(lock.owner)  # noqa: B023
                    lock.release()  # noqa: B023

        with Crew() as crew:
            for _ in range(3):
                crew.start(use)
            for _ in range(50):
                with lock:
                    waiting = {thread for thread, object_, _ in waits() if object_ is lock}
                    for thread in crew.threads:
                        if thread.ident in waiting:
                            raise_in(thread)
                            sent += 1
                eventually(lambda: len(owners) == sent)  # noqa: B023
            stop.set()
        assert sent > 0
        assert len(owners) == sent
        assert lock.waiters == 0
        assert lock.acquire(timeout=0)
