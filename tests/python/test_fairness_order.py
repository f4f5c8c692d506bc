# SPDX-License-Identifier: Apache-2.0
"""Strict algorithms admit threads in order of arrival, and the default ones starve no waiter."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from support import ENOUGH, POLICIES, SOON, STRICT_LOCKS, STRICT_SEMAPHORES, Crew, eventually, settle

import fairlock

SLEEPING = ["spin-then-park", "park"]


class Line:
    """Threads that line up one after the other. They are numbered from 0. Some have a short timeout, and leave."""

    def __init__(self, crew: Crew, lock: Any) -> None:
        self.crew, self.lock = crew, lock
        self.entered: list[int] = []
        self.left: list[int] = []
        self.length = 0

    def join(self, timeout: float = ENOUGH) -> threading.Thread:
        thread = self.crew.start(self.wait, self.length, timeout)
        self.length += 1
        eventually(lambda: self.lock.waiters + len(self.left) == self.length)
        settle(thread)
        return thread

    def wait(self, number: int, timeout: float) -> None:
        if self.lock.acquire(timeout=timeout):
            self.entered.append(number)
            self.lock.release()
        else:
            self.left.append(number)


@pytest.mark.parametrize("waiting", SLEEPING)
@pytest.mark.parametrize("algorithm", STRICT_LOCKS)
def test_locks_are_first_come_first_served(algorithm: str, waiting: str) -> None:
    for kind in (fairlock.Lock, fairlock.RLock):
        lock = kind(algorithm, waiting=waiting)
        lock.acquire()
        with Crew() as crew:
            line = Line(crew, lock)
            for _ in range(8):
                line.join()
            lock.release()
        assert line.entered == list(range(8))
        assert lock.waiters == 0


@pytest.mark.parametrize("waiting", SLEEPING)
@pytest.mark.parametrize("algorithm", STRICT_SEMAPHORES)
def test_semaphores_are_first_come_first_served(algorithm: str, waiting: str) -> None:
    semaphore = fairlock.Semaphore(0, algorithm, waiting=waiting)
    with Crew() as crew:
        line = Line(crew, semaphore)
        for _ in range(8):
            line.join()
        semaphore.release()
    assert line.entered == list(range(8))
    assert (semaphore.waiters, semaphore._value) == (0, 1)


@pytest.mark.parametrize("waiting", POLICIES)
@pytest.mark.parametrize("algorithm", STRICT_LOCKS)
def test_the_owner_cannot_pass_a_waiter_repeatedly(algorithm: str, waiting: str) -> None:
    lock = fairlock.Lock(algorithm, waiting=waiting)
    for _ in range(3):
        entered: list[int] = []
        lock.acquire()

        def wait() -> None:
            with lock:
                entered.append(turns)  # noqa: B023

        turns = 0
        with Crew() as crew:
            thread = crew.start(wait)
            eventually(lambda: lock.waiters == 1)
            settle(thread)
            while not entered and turns < 100:
                lock.release()
                lock.acquire()
                turns += 1
            lock.release()
        assert entered[0] <= 1


@pytest.mark.parametrize("algorithm", STRICT_SEMAPHORES)
def test_a_permit_goes_to_the_waiter_before_a_newcomer(algorithm: str) -> None:
    semaphore = fairlock.Semaphore(0, algorithm)
    order: list[str] = []
    with Crew() as crew:
        thread = crew.start(lambda: semaphore.acquire(timeout=ENOUGH) and order.append("first"))
        eventually(lambda: semaphore.waiters == 1)
        settle(thread)
        semaphore.release()
        assert not semaphore.acquire(blocking=False)
    assert order == ["first"]


@pytest.mark.parametrize("leaves", [0, 1, 2, 5, 7], ids=lambda place: f"place {place}")
@pytest.mark.parametrize("algorithm", STRICT_LOCKS + STRICT_SEMAPHORES)
def test_a_leaver_does_not_disturb_the_order(algorithm: str, leaves: int) -> None:
    """The leaver is at the head, in the middle or at the tail of a line of eight, and its neighbour may leave too."""
    for neighbour in (False, True):
        lock: Any = fairlock.Lock(algorithm) if algorithm in STRICT_LOCKS else fairlock.Semaphore(1, algorithm)
        leavers = {leaves, (leaves + 1) % 8} if neighbour else {leaves}
        lock.acquire()
        with Crew() as crew:
            line = Line(crew, lock)
            for number in range(8):
                line.join(0.1 if number in leavers else ENOUGH)
            eventually(lambda: len(line.left) == len(leavers))  # noqa: B023
            lock.release()
        assert line.entered == [number for number in range(8) if number not in leavers]
        assert lock.waiters == 0
        assert lock.acquire(timeout=0)
        assert not lock.acquire(timeout=0)


@pytest.mark.parametrize("algorithm", STRICT_LOCKS + STRICT_SEMAPHORES)
def test_a_new_thread_does_not_inherit_the_place_of_a_thread_that_ended(algorithm: str) -> None:
    lock: Any = fairlock.Lock(algorithm) if algorithm in STRICT_LOCKS else fairlock.Semaphore(1, algorithm)
    lock.acquire()
    with Crew() as crew:
        line = Line(crew, lock)
        line.join()
        leaver = line.join(0.1)
        line.join()
        leaver.join(ENOUGH)
        line.join()
        lock.release()
    assert line.left == [1]
    assert line.entered == [0, 2, 3]


def test_conditions_notify_the_longest_waiter() -> None:
    condition = fairlock.Condition()
    order: list[int] = []

    def wait(number: int) -> None:
        with condition:
            assert condition.wait(ENOUGH)
            order.append(number)

    with Crew() as crew:
        for number in range(8):
            crew.start(wait, number)
            eventually(lambda: condition.waiters == number + 1)  # noqa: B023
        for number in range(8):
            with condition:
                condition.notify()
            eventually(lambda: len(order) == number + 1)  # noqa: B023
    assert order == list(range(8))


def test_a_waiter_of_the_default_lock_is_not_starved() -> None:
    """The owner releases the lock and takes it back at once, until the waiter gets it."""
    for lock in (fairlock.Lock(), fairlock.Semaphore(1), fairlock.RLock()):
        entered: list[bool] = []

        def wait() -> None:
            entered.append(lock.acquire(timeout=ENOUGH))  # noqa: B023
            lock.release()  # noqa: B023

        lock.acquire()
        with Crew() as crew:
            crew.start(wait)
            eventually(lambda: lock.waiters == 1)  # noqa: B023
            time.sleep(SOON)
            for _ in range(10_000_000):
                lock.release()
                lock.acquire()
                if entered:
                    break
            lock.release()
        assert entered == [True]
