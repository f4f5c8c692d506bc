# SPDX-License-Identifier: Apache-2.0
"""owner, waiters, statistics() and waits() have the right values in known situations."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from support import ENOUGH, LOCKS, SEMAPHORES, SOON, Crew, eventually

import fairlock
from fairlock._locks import waits


@pytest.mark.parametrize("algorithm", LOCKS)
def test_owner(algorithm: str) -> None:
    for kind in (fairlock.Lock, fairlock.RLock):
        lock = kind(algorithm)
        me = threading.get_ident()
        assert lock.owner is None
        with lock:
            assert lock.owner == me
            taken: list[bool] = []
            with Crew() as crew:
                crew.start(lambda: taken.append(lock.acquire(blocking=False)))  # noqa: B023
            assert taken == [False]
            assert lock.owner == me
        assert lock.owner is None
        assert lock.acquire(timeout=1)
        idents: list[int | None] = []

        def wait() -> None:
            with lock:  # noqa: B023
                idents.append(lock.owner)  # noqa: B023
                idents.append(threading.get_ident())  # noqa: B023

        with Crew() as crew:
            crew.start(wait)
            eventually(lambda: lock.waiters == 1)  # noqa: B023
            assert lock.owner == me
            lock.release()
        assert idents[0] == idents[1]
        assert lock.owner is None


@pytest.mark.parametrize("algorithm", LOCKS + SEMAPHORES)
def test_statistics(algorithm: str) -> None:
    lock: Any = fairlock.Lock(algorithm) if algorithm in LOCKS else fairlock.Semaphore(1, algorithm)
    for _ in range(10):
        with lock:
            pass
    assert lock.statistics() == (0, 0, 0, 0, 0.0, 0.0)
    lock.acquire()
    assert not lock.acquire(blocking=False)
    assert lock.statistics().abandoned == 0  # a failed attempt that did not wait
    assert not lock.acquire(timeout=SOON)
    statistics = lock.statistics()
    assert (statistics.contended, statistics.abandoned, statistics.woken) == (0, 1, 0)
    assert statistics.longest > 0
    assert statistics.waited == 0.0
    with Crew() as crew:
        for number in range(3):
            crew.start(lambda: lock.acquire(timeout=ENOUGH) and lock.release())
            eventually(lambda: lock.waiters == number + 1)  # noqa: B023
        time.sleep(2 * SOON)
        lock.release()
    statistics = lock.statistics()
    assert (statistics.contended, statistics.abandoned) == (3, 1)
    assert 1 <= statistics.woken <= 3
    assert statistics.parks >= statistics.woken
    assert (
        0 < statistics.longest <= statistics.waited
    )  # the first of the three waited longer than the thread that gave up
    assert lock.waiters == 0


def test_statistics_are_a_named_tuple() -> None:
    statistics = fairlock.Lock().statistics()
    assert isinstance(statistics, fairlock.Statistics)
    assert statistics._fields if hasattr(statistics, "_fields") else len(statistics) == 6
    assert "contended=0" in repr(statistics)


def test_waits() -> None:
    lock, semaphore, condition = fairlock.Lock("twa"), fairlock.Semaphore(0), fairlock.Condition()
    assert waits() == []
    lock.acquire()

    def wait() -> None:
        with condition:
            condition.wait(ENOUGH)

    with Crew() as crew:
        crew.start(lock.acquire)
        crew.start(semaphore.acquire)
        crew.start(wait)
        eventually(lambda: len(waits()) == 3)
        time.sleep(SOON)
        idents = [thread.ident for thread in crew.threads]
        current = {thread: (object_, seconds) for thread, object_, seconds in waits()}
        assert [current[ident][0] for ident in idents if ident is not None] == [lock, semaphore, condition]
        assert all(SOON <= seconds < ENOUGH for _, seconds in current.values())
        lock.release()
        semaphore.release()
        with condition:
            condition.notify()
    assert waits() == []


def test_repr() -> None:
    lock, rlock, semaphore, bounded = (
        fairlock.Lock(),
        fairlock.RLock(),
        fairlock.Semaphore(3),
        fairlock.BoundedSemaphore(3),
    )
    assert "<unlocked fairlock.Lock object at 0x" in repr(lock)
    assert "<unlocked fairlock.RLock object owner=0 count=0 at 0x" in repr(rlock)
    with lock, rlock, rlock, semaphore, bounded:
        assert "<locked fairlock.Lock object at 0x" in repr(lock)
        assert f"<locked fairlock.RLock object owner={threading.get_ident()} count=2 at 0x" in repr(rlock)
        assert "value=2>" in repr(semaphore)
        assert "value=2/3>" in repr(bounded)
    assert repr(fairlock.Condition(lock)) == f"<Condition({lock!r}, 0)>"
