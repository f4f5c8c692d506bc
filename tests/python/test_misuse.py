# SPDX-License-Identifier: Apache-2.0
"""Misuse raises or is harmless: it breaks no lock, and the process does not crash."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
from typing import Any

import pytest
from support import ENOUGH, LOCKS, SEMAPHORES, Crew, eventually, outcome, run_python

import fairlock

KINDS: list[Any] = [
    fairlock.Lock,
    fairlock.RLock,
    fairlock.Semaphore,
    fairlock.BoundedSemaphore,
    fairlock.Condition,
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_init_is_refused(kind: Any) -> None:
    object_ = kind()
    with pytest.raises(RuntimeError, match="again"):
        object_.__init__()
    with object_:
        pass


@pytest.mark.parametrize("algorithm", LOCKS)
def test_init_of_a_held_lock_is_refused(algorithm: str) -> None:
    """The call must not free the lock or let it have two owners."""
    for kind in (fairlock.Lock, fairlock.RLock):
        lock: Any = kind.__new__(kind)
        assert lock.acquire()
        with pytest.raises(RuntimeError, match="in use"):
            lock.__init__(algorithm)
        assert lock.locked()
        lock.release()
        lock.__init__(algorithm)
        assert lock.algorithm == algorithm


@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_init_of_a_semaphore_in_use_is_refused(algorithm: str) -> None:
    semaphore: Any = fairlock.Semaphore.__new__(fairlock.Semaphore)
    semaphore.acquire()
    with pytest.raises(RuntimeError, match="in use"):
        semaphore.__init__(3, algorithm)
    assert semaphore._value == 0


def test_init_of_a_lock_with_waiters_is_refused() -> None:
    lock: Any = fairlock.Lock.__new__(fairlock.Lock)
    lock.acquire()
    with Crew() as crew:
        crew.start(lambda: lock.acquire(timeout=ENOUGH) and lock.release())
        eventually(lambda: lock.waiters == 1)
        assert outcome(lambda: lock.__init__("twa")) is RuntimeError
        lock.release()


@pytest.mark.parametrize(
    "make", [lambda: fairlock.Condition(fairlock.Lock()), lambda: fairlock.Condition.__new__(fairlock.Condition)]
)
def test_init_of_a_condition_whose_lock_has_waiters_is_refused(make: Any) -> None:
    condition: Any = make()
    condition.acquire()

    def enter() -> None:
        with condition:
            pass

    with Crew() as crew:
        crew.start(enter)
        eventually(lambda: condition._lock.waiters == 1)
        assert outcome(lambda: condition.__init__(fairlock.Lock())) is RuntimeError
        condition.release()


def test_init_is_not_needed() -> None:
    """A subclass that does not call super().__init__() has the default algorithm."""

    class Forgets(fairlock.Lock):
        def __init__(self, a: int, *, b: int) -> None:
            self.sum = a + b

    lock = Forgets(1, b=2)
    assert lock.algorithm == "fair"
    with lock:
        assert lock.locked()
    assert lock.sum == 3
    for kind in KINDS:
        with kind.__new__(kind, "any", thing=1):
            pass


@pytest.mark.parametrize("kind", KINDS)
def test_subclass_with_another_signature(kind: Any) -> None:
    class Named(kind):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    lock = Named("name")
    with lock:
        pass
    assert lock.name == "name"
    assert "Named" in repr(lock) or kind is fairlock.Condition


@pytest.mark.parametrize("kind", [*KINDS, fairlock.Event, lambda: fairlock.Barrier(2)])
def test_pickle_and_copy_are_refused(kind: Any) -> None:
    object_ = kind()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError):
            pickle.dumps(object_, protocol)
    with pytest.raises(TypeError, match="pickle"):
        copy.deepcopy(object_)
    with pytest.raises(TypeError, match="create a new one"):
        copy.copy(object_)


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_of_types_and_objects_cannot_be_set(kind: Any) -> None:
    with pytest.raises(TypeError):
        kind.acquire = None
    with pytest.raises(AttributeError):
        kind().name = "x"


@pytest.mark.parametrize("algorithm", LOCKS)
def test_release_by_another_thread(algorithm: str) -> None:
    lock = fairlock.Lock(algorithm)
    for _ in range(3):
        lock.acquire()
        with Crew() as crew:
            crew.start(lock.release)
        assert lock.acquire(timeout=0)
        lock.release()
    rlock = fairlock.RLock(algorithm)
    rlock.acquire()
    with Crew() as crew:
        crew.start(lambda: outcome(rlock.release) is RuntimeError or pytest.fail("the RLock was released"))
    assert rlock.owner == threading.get_ident()
    rlock.release()


@pytest.mark.parametrize("algorithm", LOCKS)
def test_a_lock_that_is_locked_can_be_released(algorithm: str) -> None:
    """locked() and release() agree, even while the new owner waits for the GIL."""
    interval = sys.getswitchinterval()
    for _ in range(5):
        lock = fairlock.Lock(algorithm)
        lock.acquire()
        with Crew() as crew:
            crew.start(lambda: lock.acquire(timeout=ENOUGH))  # noqa: B023
            eventually(lambda: lock.waiters == 1)  # noqa: B023
            sys.setswitchinterval(0.05)
            try:
                lock.release()
                while not lock.locked():
                    pass
                lock.release()
            finally:
                sys.setswitchinterval(interval)


def test_wait_does_not_release_a_lock_that_is_free() -> None:
    """A condition over a Lock does not know the owner. But it must not release a lock that was released meanwhile."""

    class ReleasesTheLock:
        def __float__(self) -> float:
            lock.release()
            return 0.0

    lock = fairlock.Lock()
    condition = fairlock.Condition(lock)
    lock.acquire()
    timeout: Any = ReleasesTheLock()
    assert outcome(lambda: condition.wait(timeout)) is RuntimeError
    assert [lock.acquire(timeout=0), lock.acquire(timeout=0)] == [True, False]


def test_conditions_nested_deeper_than_the_stack() -> None:
    run_python(
        """
import fairlock
condition = fairlock.Condition()
for _ in range(300_000):
    condition = fairlock.Condition(condition)
for call in (condition.acquire, condition.__enter__, condition.release, condition.locked, lambda: repr(condition)):
    try:
        call()
        raise SystemExit(f"{call} returned")
    except RecursionError:
        pass
del condition
"""
    )


def test_a_condition_that_is_its_own_lock_is_collected() -> None:
    class OwnLock(fairlock.Condition):
        def __init__(self) -> None:
            super().__init__(self)

    condition: Any = OwnLock()
    assert outcome(condition.acquire) is RecursionError
    condition.weak = [condition]
    del condition
    gc.collect()
    assert not [object_ for object_ in gc.get_objects() if type(object_) is OwnLock]


def test_an_rlock_can_be_held_many_times() -> None:
    lock = fairlock.RLock()
    for _ in range(10_000):
        lock.acquire()
    for _ in range(10_000):
        lock.release()
    assert outcome(lock.release) is RuntimeError


def test_private_methods_refuse_wrong_arguments() -> None:
    lock: Any = fairlock.RLock()
    for wrong in (None, (), (1,), ("a", "b"), 5, (1, 2, 3), (0, threading.get_ident()), (-1, threading.get_ident())):
        assert outcome(lambda: lock._acquire_restore(wrong)) is TypeError  # noqa: B023
    assert outcome(lock._release_save) is RuntimeError
    assert not lock.locked()
