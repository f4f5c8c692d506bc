# SPDX-License-Identifier: Apache-2.0
"""Capacitor: any lock behind platoons."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support import eventually

import fairlock

INNER = {
    "threading.Lock": threading.Lock,
    "threading.RLock": threading.RLock,
    "threading.Semaphore": threading.Semaphore,
    "fairlock.Lock": fairlock.Lock,
    "fairlock.Lock tts": lambda: fairlock.Lock("tts"),
    "fairlock.Semaphore": fairlock.Semaphore,
    "fairlock.Capacitor": lambda: fairlock.Capacitor(threading.Lock()),
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize(("platoon", "skip"), [(1, 0), (2, 0), (10, 0), (2, 0.5), (10, 1)])
def test_threads_exclude_each_other_and_platoons_still_pass_afterwards(inner: str, platoon: int, skip: float) -> None:
    capacitor = fairlock.Capacitor(INNER[inner](), platoon, skip)
    seen: list[int] = []

    def work() -> None:
        for i in range(100):
            if i % 7 == 6:
                if not capacitor.acquire(timeout=0.0001):
                    continue
            elif i % 7 == 5:
                if not capacitor.acquire(blocking=False):
                    continue
            else:
                assert capacitor.acquire()
            seen.append(len(seen))
            capacitor.release()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert seen == list(range(len(seen)))
    assert capacitor.waiters == 0
    for _ in range(3 * platoon):
        assert capacitor.acquire(timeout=20)
        capacitor.release()


class Lifo:
    """The most unfair lock: the newest waiter enters first."""

    def __init__(self) -> None:
        self.guard, self.held, self.stack = threading.Lock(), False, list[threading.Lock]()

    def acquire(self) -> bool:
        with self.guard:
            if not self.held:
                self.held = True
                return True
            gate = threading.Lock()
            gate.acquire()
            self.stack.append(gate)
        return gate.acquire()

    def release(self) -> None:
        with self.guard:
            if self.stack:
                self.stack.pop().release()
            else:
                self.held = False


def test_at_most_the_rest_of_the_platoon_bypasses_a_waiter() -> None:
    platoon = 3
    capacitor, entered = fairlock.Capacitor(Lifo(), platoon), list[int]()

    def work(number: int) -> None:
        with capacitor:
            entered.append(number)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(9)]
    with capacitor:
        for i, thread in enumerate(threads):
            # The owner is the first of a platoon: two more threads are admitted, and the others wait at the gate.
            thread.start()
            eventually(lambda i=i: len(capacitor.inner.stack) + capacitor.waiters == i + 1)  # type: ignore[misc]
    for thread in threads:
        thread.join(20)
    assert sorted(entered) == list(range(9))
    for place, number in enumerate(entered):
        assert sum(earlier > number for earlier in entered[:place]) <= platoon - 1
    assert entered != sorted(entered)  # within a platoon, the inner lock decides the order


def test_an_inner_lock_that_raises() -> None:
    class Broken:
        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            raise OSError("broken")

        def release(self) -> None:
            raise RuntimeError("not held")

    capacitor = fairlock.Capacitor(Broken(), platoon=2)
    for _ in range(10):  # each thread departs, or the gate would stay closed
        with pytest.raises(OSError, match="broken"):
            capacitor.acquire(timeout=5)
    with pytest.raises(RuntimeError, match="not held"):
        capacitor.release()


def test_wrong_arguments() -> None:
    make: Any = fairlock.Capacitor
    with pytest.raises(TypeError):
        make()
    with pytest.raises(TypeError, match="acquire"):
        make(42)
    with pytest.raises(ValueError, match="platoon"):
        make(threading.Lock(), 0)
    with pytest.raises(ValueError, match="platoon"):
        make(threading.Lock(), -3)
    with pytest.raises(ValueError, match="platoon"):
        make(threading.Lock(), 2**80)
    with pytest.raises(TypeError):
        make(threading.Lock(), 1.5)
    for skip in (2, -0.1, float("nan")):
        with pytest.raises(ValueError, match="skip"):
            make(threading.Lock(), skip=skip)
        with pytest.raises(ValueError, match="skip"):
            fairlock.Lock("capacitor-tts", skip=skip)
    with pytest.raises(ValueError, match="platoon"):
        fairlock.Lock("capacitor-tts", platoon=0)
    with pytest.raises(ValueError, match="capacitors"):
        fairlock.Lock(platoon=4)
    with pytest.raises(RuntimeError, match="again"):
        fairlock.Capacitor(threading.Lock()).__init__(threading.Lock())  # type: ignore[misc]


def test_release_of_a_capacitor_that_is_not_held() -> None:
    capacitor = fairlock.Capacitor(threading.Lock(), platoon=1)
    with pytest.raises(RuntimeError):
        capacitor.release()
    with capacitor:
        assert capacitor.locked()
    assert not capacitor.locked()
    assert (capacitor.platoon, capacitor.skip, capacitor.algorithm) == (1, 0.0, "capacitor")
