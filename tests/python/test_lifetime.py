# SPDX-License-Identifier: Apache-2.0
"""Objects die when nobody needs them any more, and leave nothing behind."""

from __future__ import annotations

import gc
import resource
import sys
import threading
import weakref
from collections.abc import Callable
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
    """Somebody has waited for it, and somebody has given up."""
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
    class Mine(fairlock.Lock):
        pass

    class Owner:
        def __init__(self) -> None:
            self.lock = Mine()
            self.lock.owned = self  # type: ignore[attr-defined]
            self.condition = fairlock.Condition(self.lock)
            self.lock.condition = self.condition  # type: ignore[attr-defined]

    weak = weakref.ref(Owner())
    gc.collect()
    assert weak() is None
    assert not [one for one in gc.get_objects() if type(one) is Mine]


def alive() -> int:
    gc.collect()
    return sum(
        isinstance(one, (*TYPES, weakref.ref)) or type(one) is type(test_weak_references) for one in gc.get_objects()
    )


def grows(work: Callable[[], object], times: int) -> int:
    """By how many kilobytes the process grew after it was warm."""
    for _ in range(times):
        work()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(4 * times):
        work()
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def failures() -> None:
    """Every way to fail that comes before, in or after the constructor."""
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


@pytest.mark.skipif(free_threaded(), reason="its counts are spread over threads, and merged late")
def test_references_come_out_even() -> None:
    lock, condition, semaphore = fairlock.Lock(), fairlock.Condition(), fairlock.Semaphore()
    timeout, predicate, name = 0.0, (lambda: True), "twa"

    def use() -> None:
        failures()
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
    before = [sys.getrefcount(one) for one in watched]
    for _ in range(50):
        use()
    after = [sys.getrefcount(one) for one in watched]
    assert all(now - then < 40 for then, now in zip(before, after, strict=True))


def test_nothing_is_left_of_failures() -> None:
    failures()
    before = alive()
    for _ in range(50):
        failures()
    assert alive() - before < 40
    assert grows(failures, 300) < 2000


@each_kind
def test_no_memory_is_lost(make: Callable[[], Any]) -> None:
    def use() -> None:
        object_ = make()
        if hasattr(object_, "acquire"):
            object_.acquire()
            object_.release()

    assert grows(use, 4000) < 2000  # 16,000 of them would take more


@pytest.mark.parametrize("name", LOCKS + SEMAPHORES)
def test_no_memory_is_lost_to_contention(name: str) -> None:
    made: list[weakref.ref[Any]] = []
    for _ in range(30):
        lock: Any = fairlock.Lock(name) if name in LOCKS else fairlock.Semaphore(1, name)
        contend(lock)
        made.append(weakref.ref(lock))
    del lock
    gc.collect()
    assert not [weak for weak in made if weak() is not None]


def test_waiters_keep_what_they_wait_for() -> None:
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


def test_a_thread_leaves_nothing_behind() -> None:
    """Who waits for what is listed by thread: not after the thread has ended."""
    lock = fairlock.Lock()
    with lock:
        for _ in range(20):
            with Crew() as crew:
                for _ in range(5):
                    crew.start(lambda: lock.acquire(timeout=0.0001))
    assert fairlock._locks.waits() == []  # type: ignore[attr-defined]
    assert threading.active_count() < 20


@pytest.mark.parametrize("wrap", [fairlock.Capacitor, fairlock.Condition])
def test_one_around_the_other(wrap: Callable[[Any], Any]) -> None:
    """However many there are: whatever frees one does not need the stack of all."""

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
def test_used_while_it_is_collected(type_: Any) -> None:
    """A finalizer can make a weak reference that outlives what the collector clears, and so find a cleared object."""
    weak: list[weakref.ref[Any]] = []

    class Inner:
        def acquire(self, *_: object) -> bool:
            return True

        def release(self) -> None:
            pass

        def __del__(self) -> None:
            found = weakref.ref(self.owner)  # type: ignore[attr-defined]
            weak.append(weakref.ref(self.last, lambda _: use(found())))  # type: ignore[attr-defined]

    class Last:
        pass

    def use(object_: Any) -> None:
        if object_ is None:
            return
        for name in ("inner", "_lock", "platoon", "waiting"):
            getattr(object_, name, None)
        for method in (object_.acquire, object_.release, object_.locked, object_.__enter__, object_.__repr__):
            outcome(method)

    def garbage() -> None:
        owner = type_.__new__(type_)  # the collector clears the oldest first
        inner, last = Inner(), Last()
        owner.__init__(inner)
        inner.owner, inner.last = owner, last  # type: ignore[attr-defined]
        last.owner = owner  # type: ignore[attr-defined]

    garbage()
    gc.collect()
    assert weak
