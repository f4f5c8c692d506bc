# SPDX-License-Identifier: Apache-2.0
"""Calls that several threads make at the same instant, especially without a GIL."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from support import ENOUGH, LOCKS, SEMAPHORES, Crew, free_threaded, outcome, run_python, together

import fairlock

TIMES = 300 if free_threaded() else 30


@pytest.fixture(autouse=True)
def _many_switches() -> Any:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("algorithm", LOCKS)
def test_exactly_one_of_simultaneous_releases_succeeds(algorithm: str) -> None:
    lock = fairlock.Lock(algorithm)
    for _ in range(TIMES // 10):
        lock.acquire()
        results: list[object] = []
        together(3, lambda _: results.append(outcome(lock.release)))  # noqa: B023
        assert sorted(map(str, results)) == sorted(map(str, [None, RuntimeError, RuntimeError]))
        assert [lock.acquire(timeout=0), lock.acquire(timeout=0)] == [True, False]
        lock.release()


@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_a_bounded_semaphore_stays_within_its_bound(algorithm: str) -> None:
    semaphore = fairlock.BoundedSemaphore(3, algorithm)
    above: list[int] = []

    def release(number: int) -> None:
        for i in range(TIMES):
            if (number + i) % 3 == 0:
                semaphore.acquire(timeout=0)
            outcome(lambda: semaphore.release(1 + i % 2))  # noqa: B023
            if semaphore._value > 3:
                above.append(semaphore._value)

    together(4, release)
    assert not above
    assert outcome(lambda: semaphore.release(4)) is ValueError
    assert semaphore._value <= 3


@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_simultaneous_releases_of_very_many_permits(algorithm: str) -> None:
    """Either release fits, but not both: one raises OverflowError, and the process continues."""
    run_python(
        """
import re, sys, threading, fairlock
try:
    fairlock.Semaphore(2**200, sys.argv[1])
except OverflowError as error:
    most = int(re.search(r"at most (\\d+)", str(error))[1])
for n in (most, most // 2 + 1):
    for _ in range(30):
        semaphore = fairlock.Semaphore(0, sys.argv[1])
        ready, errors = [], []
        def release():
            ready.append(None)
            while len(ready) < 2: pass
            try:
                semaphore.release(n)
            except OverflowError:
                errors.append(None)
        threads = [threading.Thread(target=release) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert (len(errors), semaphore._value) == (1, n), (errors, semaphore)
semaphore = fairlock.Semaphore(most, sys.argv[1])
try:
    semaphore.release()
    raise SystemExit("the semaphore exceeded its limit")
except OverflowError:
    pass
assert semaphore._value == most and semaphore.acquire(timeout=0)
""",
        algorithm,
    )


@pytest.mark.parametrize("algorithm", LOCKS)
def test_several_threads_are_the_first_to_contend(algorithm: str) -> None:
    for _ in range(TIMES // 30):
        lock = fairlock.Lock(algorithm)
        count = [0]

        def use(_: int) -> None:
            for _ in range(20):
                with lock:  # noqa: B023
                    count[0] += 1  # noqa: B023

        together(4, use)
        assert count == [80]
        assert lock.waiters == 0
        assert lock.statistics().contended <= 80


def test_attributes_are_read_while_threads_contend() -> None:
    objects: list[Any] = [fairlock.Lock(), fairlock.Lock("twa"), fairlock.RLock(), fairlock.Condition()]
    objects += [fairlock.Semaphore(2), fairlock.BoundedSemaphore(2)]
    stop = threading.Event()

    def use() -> None:
        while not stop.is_set():
            for primitive in objects:
                with primitive:
                    if isinstance(primitive, fairlock.Condition):
                        primitive.wait(0.0001)
                        primitive.notify()

    def read() -> None:
        for _ in range(TIMES):
            for primitive in objects:
                repr(primitive)
                primitive.waiters, getattr(primitive, "owner", None), getattr(primitive, "_value", None)
                if not isinstance(primitive, fairlock.Condition):
                    statistics = primitive.statistics()
                    assert statistics.longest >= 0
                    primitive.algorithm  # noqa: B018
            for thread, object_, seconds in fairlock._locks.waits():  # type: ignore[attr-defined]
                assert thread
                assert any(
                    object_ is primitive or object_ is getattr(primitive, "_lock", None) for primitive in objects
                )
                assert 0 <= seconds < ENOUGH

    with Crew() as crew:
        for _ in range(3):
            crew.start(use)
        readers = [crew.start(read) for _ in range(2)]
        for reader in readers:
            reader.join(ENOUGH)
        stop.set()
    assert all(primitive.waiters == 0 for primitive in objects)


def test_wait_by_a_thread_that_does_not_hold_the_lock() -> None:
    """Over a Lock, wait() may release the lock of another thread, as in threading, but never a free lock."""
    lock = fairlock.Lock()
    condition = fairlock.Condition(lock)

    def use(number: int) -> None:
        for _ in range(TIMES):
            if number % 2:
                outcome(lambda: condition.wait(0))
                outcome(lock.release)
            else:
                lock.acquire()
                outcome(lock.release)

    together(4, use)
    outcome(lock.release)
    outcome(lock.release)
    assert [lock.acquire(timeout=0), lock.acquire(timeout=0)] == [True, False]


def test_exactly_one_of_simultaneous_inits_succeeds() -> None:
    for _ in range(TIMES // 3):
        lock: Any = fairlock.Lock.__new__(fairlock.Lock)
        results: list[object] = []
        together(3, lambda number: results.append(outcome(lambda: lock.__init__(LOCKS[number]))))  # noqa: B023
        assert results.count(None) == 1
        with lock:
            assert not lock.acquire(timeout=0)
