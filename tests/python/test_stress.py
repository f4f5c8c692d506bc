# SPDX-License-Identifier: Apache-2.0
"""Under storms of short timeouts, threads exclude each other, no permit is lost, and the line ends up empty."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from support import LOCKS, POLICIES, SEMAPHORES, Crew, eventually, together

import fairlock

THREADS = 16
SECONDS = 0.12  # of each of the many storms


def storm(lock: Any, permits: int) -> None:
    inside: list[int] = []
    wrong: list[int] = []
    end = time.monotonic() + SECONDS

    def use(number: int) -> None:
        dice = random.Random(number)
        while time.monotonic() < end:
            if lock.acquire(timeout=dice.choice((0, 1e-6, 1e-5, 1e-4, 1e-3, 5))):
                inside.append(number)
                if len(inside) > permits:
                    wrong.append(number)
                if dice.random() < 0.3:
                    time.sleep(dice.choice((0, 0.0001)))
                inside.remove(number)
                lock.release()

    together(THREADS, use)
    assert not wrong
    assert lock.waiters == 0
    assert [lock.acquire(timeout=0) for _ in range(permits + 1)] == [True] * permits + [False]


@pytest.mark.parametrize("waiting", ["spin-then-park", "park"])
@pytest.mark.parametrize("algorithm", LOCKS)
def test_locks(algorithm: str, waiting: str) -> None:
    storm(fairlock.Lock(algorithm, waiting=waiting), 1)


@pytest.mark.parametrize("permits", [1, 3])
@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_semaphores(algorithm: str, permits: int) -> None:
    storm(fairlock.Semaphore(permits, algorithm), permits)
    storm(fairlock.BoundedSemaphore(permits, algorithm, waiting="park"), permits)


@pytest.mark.parametrize("waiting", POLICIES[2:])
def test_policies_that_never_sleep(waiting: str) -> None:
    """Test few algorithms: with more threads than processors, spinning threads wait for each other's time slices."""
    storm(fairlock.Lock("twa", waiting=waiting), 1)
    storm(fairlock.Lock(waiting=waiting), 1)
    storm(fairlock.Semaphore(2, "twa-semaphore", waiting=waiting), 2)


@pytest.mark.parametrize("algorithm", LOCKS + SEMAPHORES)
def test_most_waiters_leave(algorithm: str) -> None:
    """Waiters leave the head, the middle and the tail in a random order, while the owner keeps the lock."""
    lock: Any = fairlock.Lock(algorithm) if algorithm in LOCKS else fairlock.Semaphore(1, algorithm)
    dice = random.Random(1)
    lock.acquire()
    entered: list[None] = []
    left: list[None] = []

    def wait(timeout: float) -> None:
        if lock.acquire(timeout=timeout):
            entered.append(None)
            lock.release()
        else:
            left.append(None)

    with Crew() as crew:
        for number in range(THREADS):
            crew.start(wait, 20 if number in (3, THREADS - 2) else dice.uniform(0.0001, 0.02))
        eventually(lambda: len(left) == THREADS - 2 and lock.waiters == 2)
        lock.release()
    assert len(entered) == 2
    assert lock.waiters == 0
    assert lock.acquire(timeout=0)


def test_conditions_with_short_timeouts() -> None:
    """Every item is taken, although waiters give up meanwhile."""
    condition = fairlock.Condition()
    items: list[int] = []
    taken: list[int] = []

    def take(number: int) -> None:
        dice = random.Random(number)
        while True:
            with condition:
                if not condition.wait_for(lambda: items, dice.choice((1e-5, 1e-4, 1e-3, 0.1))):
                    continue
                if items[0] < 0:
                    return
                taken.append(items.pop())

    with Crew() as crew:
        for number in range(8):
            crew.start(take, number)
        for item in range(500):
            with condition:
                items.append(item)
                condition.notify()
        eventually(lambda: len(taken) == 500)
        with condition:
            items.append(-1)
            condition.notify_all()
    assert sorted(taken) == list(range(500))
    assert condition.waiters == 0
