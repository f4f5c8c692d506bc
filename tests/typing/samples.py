# SPDX-License-Identifier: Apache-2.0
"""Typical use, for type checkers: tests/test_types.py checks this file, and never runs it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Protocol, assert_type

import fairlock


class AnyLock(Protocol):
    """A parameter type that accepts the locks of threading and of fairlock."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...
    def locked(self) -> bool: ...
    def __enter__(self) -> bool: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


def needs_a_lock(lock: AnyLock) -> None: ...
def needs_a_context(context: AbstractContextManager[object]) -> None: ...
def needs_a_factory(make: Callable[[], AnyLock]) -> None: ...
def needs_an_event(event: threading.Event) -> None: ...
def needs_a_barrier(barrier: threading.Barrier) -> None: ...


def in_place_of_threading() -> None:
    needs_a_lock(threading.Lock())
    needs_a_lock(fairlock.Lock())
    needs_a_lock(fairlock.Lock("twa", waiting="park"))
    needs_a_lock(fairlock.RLock())
    needs_a_factory(fairlock.Lock)
    for context in (fairlock.Lock(), fairlock.RLock(), fairlock.Semaphore(2), fairlock.Condition()):
        needs_a_context(context)
    needs_an_event(fairlock.Event())
    needs_a_barrier(fairlock.Barrier(2, timeout=1.5))
    with ExitStack() as stack:
        stack.enter_context(fairlock.BoundedSemaphore(4, "twa-semaphore"))


def locks(lock: fairlock.Lock, again: fairlock.RLock) -> int:
    assert_type(lock.acquire(), bool)
    assert_type(lock.acquire(False), bool)
    assert_type(again.acquire(timeout=0.5), bool)
    assert_type(lock.owner, int | None)
    assert_type(lock.waiters, int)
    assert_type(lock.algorithm, str)
    assert_type(lock.policy, str)
    assert_type(lock.statistics(), fairlock.Statistics)
    assert_type(lock.statistics().longest, float)
    contended, _, _, abandoned, _, longest = lock.statistics()
    assert_type(contended, int)
    assert_type(abandoned, int)
    assert_type(longest, float)
    with lock, again:
        return 1  # type checkers know that the block swallows no exception, so they miss no return here


def semaphores(semaphore: fairlock.Semaphore) -> None:
    assert_type(semaphore.acquire(timeout=None), bool)
    semaphore.release(n=2)
    semaphore = fairlock.BoundedSemaphore(3)


def conditions(queue: list[str]) -> str:
    fairlock.Condition(threading.Lock())
    fairlock.Condition(fairlock.Semaphore())
    condition = fairlock.Condition(fairlock.RLock())
    with condition:
        assert_type(condition.wait(timeout=1), bool)
        assert_type(condition.wait_for(lambda: len(queue)), int)
        condition.notify(2)
        condition.notify_all()
        return queue.pop()


def events(event: fairlock.Event, barrier: fairlock.Barrier) -> None:
    assert_type(event.wait(1), bool)
    assert_type(barrier.wait(), int)


class Account(fairlock.Lock):
    balance = 0

    def deposit(self, amount: int) -> None:
        with self:
            self.balance += amount


def wrong() -> None:
    """Each line is an error. The checkers agree, because they report an ignore that is not needed."""
    fairlock.Lock(waiting=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    fairlock.Lock("twa", "park")  # type: ignore[call-arg, misc, unused-ignore]  # pyright: ignore[reportCallIssue]
    fairlock.Lock().waiting = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    fairlock.Lock().owner = 1  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    fairlock.Condition(object())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    fairlock.Semaphore("4")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
