# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments raise the same exceptions as in ``threading``, with a message that says what would be right."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable
from typing import Any

import pytest
from support import LOCKS, POLICIES, SEMAPHORES, outcome

import fairlock

NAN, INFINITE = float("nan"), float("inf")
NUMBERS: list[Any] = [
    -INFINITE, -1e300, -1e10, -(2**200), -2, -0.5, -1, 0, 0.0, True, INFINITE, 1e300, 2**200, 10**400, NAN, 1e10
]  # fmt: skip
WRONG_TYPES: list[Any] = ["1", b"1", 1j, [], {}, ..., int, len]


def both(call: Callable[[Any], object]) -> tuple[object, object]:
    """Return the outcomes of a call with `threading`, and with `fairlock`."""
    return outcome(lambda: call(threading)), outcome(lambda: call(fairlock))


def wait(condition: Any, *arguments: Any) -> object:
    with condition:
        return condition.wait(*arguments)


def notify(condition: Any, *arguments: Any) -> object:
    with condition:
        return condition.notify(*arguments)


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("timeout", [*NUMBERS, *WRONG_TYPES, None], ids=repr)
@pytest.mark.parametrize("kind", ["Lock", "RLock"])
def test_timeout_of_a_lock(kind: str, timeout: Any, blocking: bool) -> None:
    expected, actual = both(lambda module: getattr(module, kind)().acquire(blocking, timeout))
    assert actual == expected


@pytest.mark.parametrize("timeout", [number for number in NUMBERS if number == number] + WRONG_TYPES, ids=repr)
def test_timeout_of_other_waits(timeout: Any) -> None:
    for expected, actual in (
        both(lambda module: module.Semaphore(0).acquire(timeout=timeout)) if timeout not in (0, 1) else (1, 1),
        both(lambda module: wait(module.Condition(), timeout)) if timeout != 1 else (1, 1),
        both(lambda module: module.Event().wait(timeout)) if timeout != 1 else (1, 1),
    ):
        assert actual == expected


def test_nan_is_refused_and_does_not_wait() -> None:
    assert outcome(lambda: fairlock.Semaphore(0).acquire(timeout=NAN)) is ValueError  # threading waits forever
    assert outcome(lambda: wait(fairlock.Condition(), NAN)) is ValueError


@pytest.mark.parametrize("n", [2**70, 2**63, 0, -1, -(2**70), True], ids=repr)
def test_notify(n: int) -> None:
    expected, actual = both(lambda module: notify(module.Condition(), n))
    assert actual == expected


@pytest.mark.parametrize("value", [-1, -(2**200), "1", None, [], 1j], ids=repr)
@pytest.mark.parametrize("kind", ["Semaphore", "BoundedSemaphore"])
def test_value_of_a_semaphore(kind: str, value: Any) -> None:
    expected, actual = both(lambda module: getattr(module, kind)(value))
    assert actual == expected


@pytest.mark.parametrize("n", [0, -1, -(2**70), "1", None, []], ids=repr)
@pytest.mark.parametrize("kind", ["Semaphore", "BoundedSemaphore"])
def test_release_of_a_semaphore(kind: str, n: Any) -> None:
    expected, actual = both(lambda module: getattr(module, kind)().release(n))
    assert actual == expected
    semaphore = getattr(fairlock, kind)(0)
    assert outcome(lambda: semaphore.release(n)) == expected
    assert semaphore._value == 0


@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_too_many_permits(algorithm: str) -> None:
    """In threading, the value has no limit. Here the error names the limit, and the semaphore stays usable."""
    for number in (2**63, 2**64, 2**70, 2**200):
        with pytest.raises(OverflowError, match="at most"):
            fairlock.Semaphore(number, algorithm)
        semaphore = fairlock.Semaphore(1, algorithm)
        with pytest.raises(OverflowError, match="at most"):
            semaphore.release(number)
        with pytest.raises(ValueError, match="too many"):
            fairlock.BoundedSemaphore(1, algorithm).release(min(number, 2**30))
        assert semaphore._value == 1
        assert semaphore.acquire(timeout=0)
        assert not semaphore.acquire(timeout=0)


MISUSES: list[tuple[str, Callable[[Any], object]]] = [
    ("an unlocked lock", lambda module: module.Lock().release()),
    ("an unlocked rlock", lambda module: module.RLock().release()),
    ("over-release", lambda module: module.BoundedSemaphore(1).release()),
    ("over-release of many", lambda module: module.BoundedSemaphore(2).release(5)),
    ("notify without the lock", lambda module: module.Condition().notify()),
    ("notify all without the lock", lambda module: module.Condition().notify_all()),
    ("wait without the lock", lambda module: module.Condition().wait(0)),
    ("notify without a plain lock", lambda module: module.Condition(module.Lock()).notify()),
    ("exit without enter", lambda module: module.Lock().__exit__(None, None, None)),
    ("exit of a condition without enter", lambda module: module.Condition().__exit__(None, None, None)),
    ("not a lock", lambda module: module.Condition(5)),
    ("three arguments", lambda module: module.Lock().acquire(True, 1, 1)),
    ("an unknown keyword", lambda module: module.Lock().acquire(block=True)),
    ("an argument twice", lambda module: module.Lock().acquire(True, blocking=True)),
    ("an unknown keyword of an rlock", lambda module: module.RLock().acquire(time=1)),
    ("an unknown keyword of a semaphore", lambda module: module.Semaphore().acquire(time=1)),
    ("three arguments of a semaphore", lambda module: module.Semaphore().acquire(True, 1, 1)),
    ("a timeout of a semaphore without blocking", lambda module: module.Semaphore().acquire(False, 1)),
    ("a timeout of a lock without blocking", lambda module: module.Lock().acquire(False, 1)),
    ("release with an argument", lambda module: module.Lock().release(1)),
    ("two counts", lambda module: module.Semaphore().release(1, 2)),
    ("a count twice", lambda module: module.Semaphore().release(1, n=2)),
    ("an unknown count", lambda module: module.Semaphore().release(m=2)),
    ("notify with an unknown keyword", lambda module: module.Condition().notify(m=2)),
    ("wait_for without a predicate", lambda module: module.Condition().wait_for()),
    ("an unknown keyword of a constructor", lambda module: module.Semaphore(valu=1)),
    ("locked with an argument", lambda module: module.Lock().locked(1)),
]


@pytest.mark.parametrize("call", [call for _, call in MISUSES], ids=[name for name, _ in MISUSES])
def test_misuse_raises_what_threading_raises(call: Callable[[Any], object]) -> None:
    expected, actual = both(call)
    assert actual == expected


@pytest.mark.parametrize("make", [fairlock.Lock, fairlock.RLock, lambda *a, **k: fairlock.Semaphore(1, *a, **k)])
def test_unknown_algorithms_and_policies(make: Callable[..., object]) -> None:
    for name in ("", "no such", "Fair", "fair\0", "ticket\0x", "x" * 100_000, "\ud800", "%s%n", "two\nlines"):
        assert issubclass(outcome(lambda: make(name)), ValueError)  # type: ignore[arg-type]  # noqa: B023
        assert issubclass(outcome(lambda: make(waiting=name)), ValueError)  # type: ignore[arg-type]  # noqa: B023
    for wrong in (1, b"fair", [], object()):
        with pytest.raises(TypeError, match="must be a string"):
            make(wrong)
        with pytest.raises(TypeError, match="must be a string"):
            make(waiting=wrong)


def test_errors_say_what_would_be_right() -> None:
    lock: Any = fairlock.Lock()
    lock_type: Any = fairlock.Lock
    capacitor: Any = fairlock.Capacitor
    for message, call in (
        ("choose one of: .*twa", lambda: fairlock.Lock("tvva")),
        ("cannot leave.* choose one of: .*twa", lambda: fairlock.Lock("mcs")),
        ("allocates nodes.* choose one of: .*twa", lambda: fairlock.Lock("clh")),
        ("choose one of: .*twa-semaphore", lambda: fairlock.Semaphore(1, "twa")),
        ("choose one of: .*park", lambda: fairlock.Lock(waiting="sleep")),
        ("TIMEOUT_MAX", lambda: fairlock.Lock().acquire(timeout=1e11)),
        ("-1 to wait without a limit", lambda: fairlock.Lock().acquire(timeout=-2)),
        ("seconds", lambda: fairlock.Lock().acquire(timeout="1")),  # type: ignore[arg-type]
        ("seconds", lambda: fairlock.Semaphore(0).acquire(timeout="1")),  # type: ignore[arg-type]
        ("acquire", lambda: fairlock.Lock().release()),
        ("with statement", lambda: fairlock.Condition().notify()),
        ("acquire", lambda: fairlock.Condition(5)),  # type: ignore[arg-type]
        ("began with 3 permits", lambda: fairlock.BoundedSemaphore(3).release()),
        ("began with 1 permit$", lambda: fairlock.BoundedSemaphore(1).release()),
        ("value must be an integer, not str", lambda: fairlock.Semaphore("4")),  # type: ignore[arg-type]
        ("BoundedSemaphore", lambda: fairlock.BoundedSemaphore(valu=1)),  # type: ignore[call-arg]
        ("n must be an integer, not float", lambda: fairlock.Semaphore().release(1.5)),  # type: ignore[arg-type]
        ("n must be an integer, not str", lambda: notify(fairlock.Condition(), "1")),
        ("platoon must be an integer, not str", lambda: capacitor(lock, "4")),
        ("platoon must be from 1 to 1000000", lambda: capacitor(lock, 10**5000)),
        ("skip must be .* from 0 to 1, not str", lambda: lock_type("capacitor-tts", skip="1")),
        ("skip must be .* from 0 to 1", lambda: lock_type("capacitor-tts", skip=10**5000)),
        ("not the type fairlock.Lock: call", lambda: fairlock.Condition(lock_type)),
        ("not the type fairlock.Lock: call", lambda: capacitor(lock_type)),
        ("parties must be > 0, not 0", lambda: fairlock.Barrier(0)),
        ("parties must be an integer, not str", lambda: fairlock.Barrier("2")),  # type: ignore[arg-type]
        (r"algorithm must be a name, not .\\ud800.", lambda: fairlock.Lock("\ud800")),
        (r"algorithm must be a name, not .fair\\x00.", lambda: fairlock.Lock("fair\0")),
        (r"algorithm .two\\nlines.;", lambda: fairlock.Lock("two\nlines")),
        ("use 'waiters'", lambda: lock.waiting),
        ("use 'waiters'", lambda: fairlock.Condition().waiting),  # type: ignore[attr-defined]
        ("use 'waiters'", lambda: fairlock.Semaphore().waiting),  # type: ignore[attr-defined]
        ("use 'waiters'", lambda: capacitor(lock).waiting),
    ):
        with pytest.raises(Exception, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("waiting", POLICIES)
def test_every_algorithm_works_under_every_policy(waiting: str) -> None:
    for name in LOCKS:
        for make in (fairlock.Lock, fairlock.RLock):
            lock = make(name, waiting=waiting)
            assert lock.algorithm == name
            assert lock.acquire(timeout=0)
            lock.release()
            with lock:
                assert lock.locked()
            assert not lock.locked()
    for name in SEMAPHORES:
        for kind in (fairlock.Semaphore, fairlock.BoundedSemaphore):
            semaphore = kind(2, name, waiting=waiting)
            assert semaphore.algorithm == name
            assert [semaphore.acquire(blocking=False) for _ in range(3)] == [True, True, False]
            semaphore.release(2)


def test_unusual_ways_to_call() -> None:
    """Python may pass an empty tuple of keyword names, or none."""
    semaphore = fairlock.Semaphore(0)
    for call in (
        functools.partial(semaphore.release),
        functools.partial(semaphore.release, **{}),
        lambda: operator.methodcaller("release", **{})(semaphore),
        lambda: semaphore.release(*(), **{}),
        lambda: fairlock.Semaphore.release(semaphore),
        lambda: semaphore.release(**{"n": 1}),
    ):
        call()
    assert semaphore._value == 6
    with pytest.raises(TypeError):
        fairlock.Semaphore.release()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        fairlock.Lock.acquire(fairlock.Semaphore())  # type: ignore[arg-type]


class Raises:
    """An argument whose conversion to a number or a truth value raises."""

    def __float__(self) -> float:
        raise KeyError

    __bool__ = __index__ = __float__  # type: ignore[assignment]


def test_exceptions_of_arguments_propagate() -> None:
    lock, semaphore, condition = fairlock.Lock(), fairlock.Semaphore(), fairlock.Condition()
    wrong: Any = Raises()
    for call in (
        lambda: lock.acquire(wrong),
        lambda: lock.acquire(timeout=wrong),
        lambda: semaphore.acquire(wrong),
        lambda: semaphore.acquire(timeout=wrong),
        lambda: semaphore.release(wrong),
        lambda: fairlock.Semaphore(wrong),
        lambda: wait(condition, wrong),
        lambda: notify(condition, wrong),
    ):
        with pytest.raises(KeyError):
            call()
    assert not lock.locked()
    assert semaphore._value == 1
    assert not condition._lock.locked()
