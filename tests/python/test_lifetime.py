# SPDX-License-Identifier: Apache-2.0
"""Unused objects are freed, with all their memory."""

from __future__ import annotations

import gc
import resource
import sys
import threading
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest
from support import ENOUGH, LOCKS, SEMAPHORES, Crew, eventually, free_threaded, outcome

import fairlock

KINDS: list[Callable[[], Any]] = [
    *(lambda name=name: fairlock.Lock(name) for name in LOCKS),  # type: ignore[misc]
    *(lambda name=name: fairlock.Semaphore(1, name) for name in SEMAPHORES),  # type: ignore[misc]
    fairlock.RLock,
    fairlock.BoundedSemaphore,
    fairlock.Condition,
    fairlock.Event,
    lambda: fairlock.Barrier(2),
]
NAMES = [*LOCKS, *SEMAPHORES, "rlock", "bounded", "condition", "event", "barrier"]
TYPES = (fairlock.Lock, fairlock.RLock, fairlock.Semaphore, fairlock.Condition)
each_kind = pytest.mark.parametrize("make", KINDS, ids=NAMES)


def contend(lock: Any) -> None:
    """Let one thread wait for the lock and get it, and another one give up."""
    lock.acquire()
    with Crew() as crew:
        crew.start(lambda: lock.acquire(timeout=ENOUGH) and lock.release())
        crew.start(lambda: lock.acquire(timeout=0.001) and lock.release())
        eventually(lambda: lock.waiters == 1)
        lock.release()


@each_kind
def test_weak_references(make: Callable[[], Any]) -> None:
    called: list[object] = []
    object_ = make()
    weak = weakref.ref(object_, called.append)
    assert weak() is object_
    del object_
    gc.collect()
    assert weak() is None
    assert len(called) == 1


@pytest.mark.parametrize("name", LOCKS)
def test_held_locks_are_collected(name: str) -> None:
    for kind in (fairlock.Lock, fairlock.RLock):
        lock = kind(name)
        contend(lock)
        lock.acquire()
        weak = weakref.ref(lock)
        del lock
        gc.collect()
        assert weak() is None


def test_cycles_are_collected() -> None:
    class Derived(fairlock.Lock):
        pass

    class Owner:
        def __init__(self) -> None:
            self.lock = Derived()
            self.lock.owned = self  # type: ignore[attr-defined]
            self.condition = fairlock.Condition(self.lock)
            self.lock.condition = self.condition  # type: ignore[attr-defined]

    weak = weakref.ref(Owner())
    gc.collect()
    assert weak() is None
    assert not [object_ for object_ in gc.get_objects() if type(object_) is Derived]


def live_objects() -> int:
    """Return the number of live locks, weak references and functions."""
    gc.collect()
    return sum(isinstance(object_, (*TYPES, weakref.ref, FunctionType)) for object_ in gc.get_objects())


def growth(work: Callable[[], object], times: int) -> int:
    """Return by how many kilobytes the process grows while it works, after a warm-up."""
    for _ in range(times):
        work()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(4 * times):
        work()
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def fail_in_every_way() -> None:
    """Make constructors and methods raise."""
    for call in (
        lambda: fairlock.Lock("no such"),
        lambda: fairlock.Lock(waiting="no such"),
        lambda: fairlock.Lock(nothing=1),  # type: ignore[call-arg]
        lambda: fairlock.Semaphore(-1),
        lambda: fairlock.Semaphore(2**200),
        lambda: fairlock.Semaphore(1, "no such"),
        lambda: fairlock.Condition(5),  # type: ignore[arg-type]
        lambda: fairlock.Condition(nothing=1),  # type: ignore[call-arg]
        lambda: fairlock.Lock().release(),
        lambda: fairlock.Lock().acquire(timeout=-5),
        lambda: fairlock.Condition().notify(),
        lambda: fairlock.Condition().wait_for(None),  # type: ignore[arg-type]
        lambda: fairlock.BoundedSemaphore().release(7),
        lambda: fairlock.Lock().__init__(),  # type: ignore[misc]
        lambda: fairlock.Lock().__reduce__(),
    ):
        assert isinstance(outcome(call), type)


@pytest.mark.skipif(free_threaded(), reason="reference counts are split between threads, and merged late")
def test_calls_keep_no_reference() -> None:
    lock, condition, semaphore = fairlock.Lock(), fairlock.Condition(), fairlock.Semaphore()
    timeout, predicate, name = 0.0, (lambda: True), "twa"

    def use() -> None:
        fail_in_every_way()
        fairlock.Lock(name)
        lock.acquire(timeout=timeout)
        lock.acquire(timeout=timeout)
        repr(lock), lock.owner, lock.statistics(), lock.waiters, lock.algorithm
        lock.release()
        with condition:
            condition.wait(timeout)
            condition.wait_for(predicate, timeout)
            condition.notify(3)
            condition.notify_all()
        repr(condition), condition._lock, condition.waiters
        semaphore.acquire(timeout=timeout)
        semaphore.release(n=1)
        fairlock._locks.waits()  # type: ignore[attr-defined]

    watched: list[Any] = [
        lock,
        condition,
        semaphore,
        timeout,
        predicate,
        name,
        *TYPES,
        condition._lock,
        None,
        True,
        False,
    ]
    use()
    before = [sys.getrefcount(object_) for object_ in watched]
    for _ in range(50):
        use()
    after = [sys.getrefcount(object_) for object_ in watched]
    assert all(new - old < 40 for old, new in zip(before, after, strict=True))


def test_failed_calls_leave_nothing_behind() -> None:
    fail_in_every_way()
    before = live_objects()
    for _ in range(50):
        fail_in_every_way()
    assert live_objects() - before < 40
    assert growth(fail_in_every_way, 300) < 2000


@each_kind
def test_no_memory_is_lost(make: Callable[[], Any]) -> None:
    def use() -> None:
        object_ = make()
        if hasattr(object_, "acquire"):
            object_.acquire()
            object_.release()

    assert growth(use, 4000) < 2000  # 16,000 leaked objects would take more


@pytest.mark.parametrize("name", LOCKS + SEMAPHORES)
def test_no_memory_is_lost_to_contention(name: str) -> None:
    locks: list[weakref.ref[Any]] = []
    for _ in range(30):
        lock: Any = fairlock.Lock(name) if name in LOCKS else fairlock.Semaphore(1, name)
        contend(lock)
        locks.append(weakref.ref(lock))
    del lock
    gc.collect()
    assert not [weak for weak in locks if weak() is not None]


def test_a_waiter_keeps_its_lock_alive() -> None:
    lock = fairlock.Lock()
    lock.acquire()
    owner = [lock]
    with Crew() as crew:
        crew.start(owner[0].acquire)
        eventually(lambda: owner[0].waiters == 1)
        weak = weakref.ref(lock)
        del lock
        owner.clear()
        crew.threads[0]._target = None  # type: ignore[attr-defined]
        gc.collect()
        kept: Any = weak()
        assert kept is not None
        kept.release()


def test_a_thread_that_has_ended_is_not_listed() -> None:
    lock = fairlock.Lock()
    with lock:
        for _ in range(20):
            with Crew() as crew:
                for _ in range(5):
                    crew.start(lambda: lock.acquire(timeout=0.0001))
    assert fairlock._locks.waits() == []  # type: ignore[attr-defined]
    assert threading.active_count() < 20


@pytest.mark.parametrize("wrap", [fairlock.Capacitor, fairlock.Condition])
def test_deep_nesting_is_freed_on_a_small_stack(wrap: Callable[[Any], Any]) -> None:
    def work() -> None:
        lock: Any = fairlock.Lock()
        for _ in range(200_000):
            lock = wrap(lock)
        weak = weakref.ref(lock)
        del lock
        gc.collect()
        assert weak() is None

    size = threading.stack_size(1 << 20)
    try:
        with Crew() as crew:
            crew.start(work)
    finally:
        threading.stack_size(size)


@pytest.mark.parametrize("type_", [fairlock.Capacitor, fairlock.Condition])
def test_methods_during_a_collection(type_: Any) -> None:
    """A finalizer can create a weak reference that the collector does not clear, and then use a cleared object."""
    weak: list[weakref.ref[Any]] = []

    class Inner:
        def acquire(self, *_: object) -> bool:
            return True

        def release(self) -> None:
            pass

        def __del__(self) -> None:
            owner = weakref.ref(self.owner)  # type: ignore[attr-defined]
            weak.append(weakref.ref(self.sentinel, lambda _: use(owner())))  # type: ignore[attr-defined]

    class Sentinel:
        pass

    def use(object_: Any) -> None:
        if object_ is None:
            return
        for name in ("inner", "_lock", "platoon", "waiters"):
            getattr(object_, name, None)
        for method in (object_.acquire, object_.release, object_.locked, object_.__enter__, object_.__repr__):
            outcome(method)

    def garbage() -> None:
        owner = type_.__new__(type_)  # first, because the collector clears the oldest object first
        inner, sentinel = Inner(), Sentinel()
        owner.__init__(inner)
        inner.owner, inner.sentinel = owner, sentinel  # type: ignore[attr-defined]
        sentinel.owner = owner  # type: ignore[attr-defined]

    garbage()
    gc.collect()
    assert weak
