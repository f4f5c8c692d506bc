# SPDX-License-Identifier: Apache-2.0
"""A condition over a lock of another library uses the lock as ``threading.Condition`` does."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support import ENOUGH, Crew, eventually, outcome

import fairlock


class Derived(fairlock.Lock):
    """A subclass, whose methods may do anything: the condition must call them."""


class Plain:
    """A lock with the fewest methods that a condition accepts."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def acquire(self, *arguments: Any) -> bool:
        return self.lock.acquire(*arguments)

    def release(self) -> None:
        self.lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


@pytest.mark.parametrize(
    "make", [threading.Lock, threading.RLock, threading._RLock, Derived, Plain, fairlock.Condition]
)  # type: ignore[attr-defined]
def test_wait_and_notify(make: Any) -> None:
    condition = fairlock.Condition(make())
    woken: list[bool] = []

    def wait() -> None:
        with condition:
            woken.append(condition.wait(ENOUGH))
            assert condition._is_owned()  # type: ignore[attr-defined]

    with condition:
        assert not condition.wait(0.001)
        assert not condition.wait_for(lambda: False, 0.001)
        assert condition._is_owned()  # type: ignore[attr-defined]
    with Crew() as crew:
        for _ in range(3):
            crew.start(wait)
        eventually(lambda: condition.waiters == 3)
        with condition:
            condition.notify()
        eventually(lambda: woken == [True])
        with condition:
            condition.notify_all()
    assert woken == [True] * 3
    assert outcome(condition.notify) is RuntimeError


@pytest.mark.parametrize("make", [threading.RLock, fairlock.RLock])
def test_the_count_of_an_rlock_is_restored(make: Any) -> None:
    lock = make()
    condition = fairlock.Condition(lock)
    with lock, lock, condition:
        assert not condition.wait(0.001)
        saved = condition._release_save()  # type: ignore[attr-defined]
        assert not condition._is_owned()  # type: ignore[attr-defined]
        condition._acquire_restore(saved)  # type: ignore[attr-defined]
    assert outcome(lock.release) is RuntimeError


def test_exceptions_of_the_lock_propagate() -> None:
    class RefusesRelease(Plain):
        def release(self) -> None:
            raise KeyError

    condition = fairlock.Condition(RefusesRelease())
    condition.acquire()
    with pytest.raises(KeyError):
        condition.wait(0)
    assert condition.waiters == 0

    class RefusesAcquire(Plain):
        def acquire(self, *arguments: Any) -> bool:
            if self.lock.locked() or arguments:
                return super().acquire(*arguments)
            raise KeyError

    condition = fairlock.Condition(RefusesAcquire())
    condition._lock.lock.acquire()
    with pytest.raises(KeyError):
        condition.wait(0)
    assert condition.waiters == 0


def test_a_notification_passes_on_if_the_lock_cannot_be_taken_again() -> None:
    """Ctrl-C can end the wait for a threading.Lock, even when a condition takes the lock again."""
    refused: set[int] = set()

    class Refuses(Plain):
        def acquire(self, *arguments: Any) -> bool:
            if threading.get_ident() in refused:
                raise KeyError
            return super().acquire(*arguments)

        def _is_owned(self) -> bool:
            return self.lock.locked()

    condition = fairlock.Condition(Refuses())
    woken: list[bool] = []

    def wait_and_fail_to_acquire() -> None:
        condition.acquire()
        refused.add(threading.get_ident())
        with pytest.raises(KeyError):
            condition.wait(ENOUGH)

    def wait() -> None:
        with condition:
            woken.append(condition.wait(ENOUGH))

    with Crew() as crew:
        crew.start(wait_and_fail_to_acquire)
        eventually(lambda: condition.waiters == 1)
        crew.start(wait)
        eventually(lambda: condition.waiters == 2)
        with condition:
            condition.notify()
        eventually(lambda: woken == [True])
