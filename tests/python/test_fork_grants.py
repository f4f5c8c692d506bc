# SPDX-License-Identifier: Apache-2.0
"""A lock, permit or notification that was on its way to a waiter at a fork is free in the child: the waiter is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fork_support import (
    LOCKS,
    SEMAPHORES,
    allows_forks_with_threads,
    check_that_it_works,
    in_child,
    join,
    keep_busy,
    needs_fork,
    start,
    with_a_gil,
    woken_threads_stay_detached,
)
from support import POLICIES, eventually, settle

import fairlock

pytestmark = [needs_fork, allows_forks_with_threads, with_a_gil]


@pytest.mark.parametrize("algorithm", LOCKS)
@pytest.mark.parametrize("type_", [fairlock.Lock, fairlock.RLock])
def test_lock(type_: Any, algorithm: str) -> None:
    lock = type_(algorithm)
    lock.acquire()

    def wait() -> None:
        with lock:
            pass

    waiters = start(1, wait)
    eventually(lambda: lock.waiters == 1)
    with woken_threads_stay_detached():
        lock.release()
        keep_busy()
        in_child(lambda: check_that_it_works(lock))
    join(waiters)


def do_nothing() -> None:
    pass


@pytest.mark.parametrize("type_", [fairlock.Semaphore, fairlock.BoundedSemaphore])
@pytest.mark.parametrize("waiting", POLICIES)
@pytest.mark.parametrize("algorithm", SEMAPHORES)
@pytest.mark.parametrize("before_the_fork", [do_nothing, keep_busy])
def test_permits(type_: Any, waiting: Any, algorithm: str, before_the_fork: Callable[[], None]) -> None:
    semaphore = type_(3, algorithm, waiting=waiting)
    for _ in range(3):
        semaphore.acquire()
    waiters = start(3, semaphore.acquire)
    eventually(lambda: semaphore.waiters == 3)
    for waiter in waiters:
        settle(waiter)

    def child() -> None:
        assert semaphore._value == 2

    with woken_threads_stay_detached():
        semaphore.release(2)
        before_the_fork()
        in_child(child)
    semaphore.release()
    join(waiters)


@pytest.mark.parametrize("lock", [fairlock.Lock, fairlock.RLock])
def test_lock_of_a_condition(lock: Any) -> None:
    condition = fairlock.Condition(lock())

    def wait() -> None:
        with condition:
            condition.wait()

    def child() -> None:
        check_that_it_works(condition)
        new_waiters = start(2, wait)
        eventually(lambda: condition.waiters == 2)
        with condition:
            condition.notify_all()
        join(new_waiters)

    waiters = start(1, wait)
    eventually(lambda: condition.waiters == 1)
    with woken_threads_stay_detached():
        with condition:
            condition.notify()
        keep_busy()
        in_child(child)
    join(waiters)


def test_event() -> None:
    event = fairlock.Event()

    def child() -> None:
        event.clear()
        assert not event.wait(0)
        event.set()

    waiters = start(1, event.wait)
    eventually(lambda: event._cond.waiters == 1)
    with woken_threads_stay_detached():
        event.set()
        keep_busy()
        in_child(child)
    join(waiters)
