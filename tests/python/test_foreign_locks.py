"""A condition over a lock that is not ours: it is let go of, and held again as before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import fairlock


class Homemade:
    """No more than acquire() and release()."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def acquire(self, *args: Any) -> bool:
        return self.lock.acquire(*args)

    def release(self) -> None:
        self.lock.release()


@pytest.mark.parametrize("make", [threading.Lock, threading.RLock, threading.Semaphore, fairlock.Semaphore, Homemade])
def test_notification(make: Callable[[], Any]) -> None:
    condition = fairlock.Condition(make())
    ready = False

    def notify() -> None:
        nonlocal ready
        condition.acquire()
        ready = True
        condition.notify()
        condition.release()

    condition.acquire()
    thread = threading.Thread(target=notify, daemon=True)
    thread.start()
    assert condition.wait_for(lambda: ready, 60)
    condition.release()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("make", [threading.RLock, fairlock.RLock])
def test_an_rlock_is_held_again_as_often(make: Callable[[], Any]) -> None:
    lock = make()
    condition = fairlock.Condition(lock)
    with condition, condition, condition:
        assert not condition.wait(0.01)
    with pytest.raises(RuntimeError, match="un-acquired"):
        lock.release()
