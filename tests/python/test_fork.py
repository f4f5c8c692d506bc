# SPDX-License-Identifier: Apache-2.0
"""The child of a fork starts with empty lines: whoever waited in the parent is gone, and nothing is handed to them."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import processes
import pytest
from support import POLICIES, eventually, free_threaded, run_python, settle

import fairlock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

LOCKS = [
    "fair",
    "tas",
    "tts",
    "ticket",
    "ticket-backoff",
    "twa",
    "hapax",
    "hapax-vw",
    "capacitor-tts",
    "capacitor-ticket",
]
SEMAPHORES = ["fair-semaphore", "ticket-semaphore", "twa-semaphore", "twa-semaphore-futex", "twa-semaphore-chain"]


@pytest.fixture(autouse=True)
def _fork_with_threads_is_the_point() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def in_child(work: Callable[[], None]) -> None:
    """Fork, do the work in the child, and fail if it fails or hangs there."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # in case the parent is gone and cannot give up on this process
        sys.setswitchinterval(0.005)
        try:
            work()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"in the child: {error!r}\n".encode())
            os._exit(1)
    assert processes.wait(child) == 0


def start(count: int, work: Callable[[], object]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def use(lock: Any) -> None:
    """Several threads of this process use the lock."""
    counts = []

    def work() -> None:
        for _ in range(50):
            with lock:
                counts.append(len(counts))

    join(start(4, work))
    assert counts == list(range(200))


@pytest.mark.parametrize("algorithm", LOCKS)
@pytest.mark.parametrize("type_", [fairlock.Lock, fairlock.RLock])
def test_the_holder_forks(type_: Any, algorithm: str) -> None:
    lock = type_(algorithm)

    def wait() -> None:
        with lock:
            pass

    with lock:
        waiters = start(3, wait)
        eventually(lambda: lock.waiters == 3)

        def child() -> None:
            assert lock.waiters == 0
            assert lock.locked()
            assert lock.owner == threading.get_ident()
            lock.release()
            assert not lock.locked()
            use(lock)

        in_child(child)
        assert lock.waiters == 3
    join(waiters)
    use(lock)


@pytest.mark.parametrize("algorithm", LOCKS)
def test_somebody_else_holds_it(algorithm: str) -> None:
    lock, held, over = fairlock.Lock(algorithm), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            over.wait(20)

    def wait() -> None:
        with lock:
            pass

    holder = start(1, hold)
    assert held.wait(20)
    waiters = start(2, wait)
    eventually(lambda: lock.waiters == 2)

    def child() -> None:
        assert not lock.acquire(timeout=0.01)  # as threading's would be: held, for ever
        lock._at_fork_reinit()
        use(lock)

    in_child(child)
    over.set()
    join([*holder, *waiters])


@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_semaphore(algorithm: str) -> None:
    semaphore = fairlock.Semaphore(2, algorithm)
    semaphore.acquire()
    semaphore.acquire()
    waiters = start(3, semaphore.acquire)
    eventually(lambda: semaphore.waiters == 3)

    def child() -> None:
        assert not semaphore.acquire(blocking=False)
        semaphore.release()
        assert semaphore.acquire(timeout=5)
        semaphore.release()
        use(semaphore)
        semaphore.release()
        assert semaphore._value == 2

    in_child(child)
    semaphore.release(3)
    join(waiters)


def test_more_waiters_than_may_stand_in_line() -> None:
    """Whoever waits outside the line has no ticket, and the child's semaphore owes it nothing."""
    semaphore = fairlock.Semaphore(0, "twa-semaphore")
    most, more = 4096, 54
    for started in range(most + more):
        try:  # without waiting for each, which takes long on a busy machine
            _thread.start_new_thread(semaphore.acquire, ())
        except RuntimeError as error:
            semaphore.release(started)
            pytest.skip(f"after {started} threads: {error}")
    eventually(lambda: semaphore.waiters == most + more)

    def child() -> None:
        assert not semaphore.acquire(blocking=False)

    in_child(child)

    def let_in(count: int) -> None:
        left = semaphore.waiters - count
        semaphore.release(count)
        eventually(lambda: semaphore.waiters == left)

    for _ in range((most + more) // 50):
        let_in(50)  # not all: thousands who want the GIL at once take long


def test_condition_and_event() -> None:
    condition, event = fairlock.Condition(), fairlock.Event()

    def wait() -> None:
        with condition:
            condition.wait()

    waiters = [*start(2, wait), *start(2, event.wait)]
    eventually(lambda: condition.waiters == 2 and event._cond.waiters == 2)
    with condition, event._cond:
        pass  # all have let go of the locks: they stood in line before that

    def child() -> None:
        with condition:
            assert condition.waiters == 0
            condition.notify_all()
        mine = start(1, wait)
        eventually(lambda: condition.waiters == 1)
        with condition:
            condition.notify()
        join(mine)
        event.set()
        assert event.wait(5)

    in_child(child)
    with condition:
        condition.notify_all()
    event.set()
    join(waiters)


with_a_gil = pytest.mark.skipif(free_threaded(), reason="nothing keeps threads from coming back")


@contextlib.contextmanager
def nobody_comes_back() -> Iterator[None]:
    """Who is woken inside gets what it waited for, but not the GIL."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def keep_busy() -> None:
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass


@with_a_gil
@pytest.mark.parametrize("algorithm", LOCKS)
@pytest.mark.parametrize("type_", [fairlock.Lock, fairlock.RLock])
def test_lock_on_its_way_to_somebody(type_: Any, algorithm: str) -> None:
    lock = type_(algorithm)
    lock.acquire()

    def wait() -> None:
        with lock:
            pass

    waiters = start(1, wait)
    eventually(lambda: lock.waiters == 1)
    with nobody_comes_back():
        lock.release()
        keep_busy()
        in_child(lambda: use(lock))
    join(waiters)


@with_a_gil
@pytest.mark.parametrize("type_", [fairlock.Semaphore, fairlock.BoundedSemaphore])
@pytest.mark.parametrize("waiting", POLICIES)
@pytest.mark.parametrize("algorithm", SEMAPHORES)
@pytest.mark.parametrize("while_they_take_them", [lambda: None, keep_busy])
def test_permits_on_their_way_to_somebody(
    type_: Any, waiting: Any, algorithm: str, while_they_take_them: Callable[[], None]
) -> None:
    semaphore = type_(3, algorithm, waiting=waiting)
    for _ in range(3):
        semaphore.acquire()
    waiters = start(3, semaphore.acquire)
    eventually(lambda: semaphore.waiters == 3)
    for waiter in waiters:
        settle(waiter)

    def child() -> None:
        assert semaphore._value == 2

    with nobody_comes_back():
        semaphore.release(2)
        while_they_take_them()
        in_child(child)
    semaphore.release()
    join(waiters)


@with_a_gil
@pytest.mark.parametrize("lock", [fairlock.Lock, fairlock.RLock])
def test_condition_whose_waiter_takes_the_lock_again(lock: Any) -> None:
    condition = fairlock.Condition(lock())

    def wait() -> None:
        with condition:
            condition.wait()

    def child() -> None:
        use(condition)
        mine = start(2, wait)
        eventually(lambda: condition.waiters == 2)
        with condition:
            condition.notify_all()
        join(mine)

    waiters = start(1, wait)
    eventually(lambda: condition.waiters == 1)
    with nobody_comes_back():
        with condition:
            condition.notify()
        keep_busy()
        in_child(child)
    join(waiters)


@with_a_gil
def test_event_that_was_just_set() -> None:
    event = fairlock.Event()

    def child() -> None:
        event.clear()
        assert not event.wait(0)
        event.set()

    waiters = start(1, event.wait)
    eventually(lambda: event._cond.waiters == 1)
    with nobody_comes_back():
        event.set()
        keep_busy()
        in_child(child)
    join(waiters)


def test_while_a_foreign_lock_is_let_go() -> None:
    """Who waits for a condition stands in its line before that, and is gone from it all the same."""
    inside, over, parent = threading.Event(), threading.Event(), os.getpid()

    class Slow:
        def _is_owned(self) -> bool:
            return True

        def acquire(self, *_: object) -> bool:
            return True

        def release(self) -> None:
            # Not in the child: the lock inside `over` may be held there for ever, by who was about to wait for it.
            if os.getpid() == parent:
                inside.set()
                assert over.wait(20)

    condition = fairlock.Condition(Slow())
    waiters = start(1, condition.wait)
    assert inside.wait(20)

    def child() -> None:
        mine = start(3, condition.wait)
        eventually(lambda: condition.waiters == 3)
        condition.notify(3)
        join(mine)

    in_child(child)
    over.set()
    eventually(lambda: condition.waiters == 1)
    condition.notify()
    join(waiters)


@pytest.mark.parametrize("inner", [fairlock.Lock, threading.Lock])
def test_capacitor(inner: Any) -> None:
    capacitor = fairlock.Capacitor(inner(), platoon=2)

    def wait() -> None:
        with capacitor:
            pass

    with capacitor:
        waiters = start(3, wait)  # one of the platoon, and two before the gate
        eventually(lambda: capacitor.waiters == 2)

        def child() -> None:
            capacitor.release()
            if inner is fairlock.Lock:
                use(capacitor)

        in_child(child)
    join(waiters)
    use(capacitor)


def test_storm() -> None:
    """Forks while threads come, wait, leave and release."""
    locks = [fairlock.Lock(name) for name in LOCKS]
    over = False

    def work() -> None:
        i = 0
        while not over:
            i += 1
            lock = locks[i % len(locks)]
            if lock.acquire(timeout=0.0001 * (i % 3)):
                lock.release()

    threads = start(6, work)

    def child() -> None:
        for lock in locks:
            if not lock.acquire(timeout=0.05):
                lock._at_fork_reinit()
                assert lock.acquire(timeout=5)
            lock.release()
            use(lock)

    for _ in range(20):
        in_child(child)
    over = True
    join(threads)
    for lock in locks:
        assert lock.waiters == 0
        assert lock.acquire(blocking=False)


def test_a_handler_forks_while_its_thread_waits_for_a_condition() -> None:
    """In the child the thread gets the lock again, even if another waiter had just been given it."""
    run_python("""
import os, random, signal, threading, time, warnings
import fairlock

warnings.simplefilter("ignore", DeprecationWarning)
lock = fairlock.Lock()
condition = fairlock.Condition(lock)
main = threading.get_ident()

class InChild(Exception): pass

def fork(*_):
    child = os.fork()
    if child == 0:
        if lock.owner is not None: os._exit(0)  # its owner is gone
        signal.alarm(20)
        raise InChild
    children.append(child)

def wait():
    with condition: condition.wait()

def eventually_waiting(count):
    while condition.waiters < count: time.sleep(0.0002)

def notify():
    eventually_waiting(3)
    with condition: condition.notify(2)
    time.sleep(random.random() * 5e-5)
    signal.pthread_kill(main, signal.SIGUSR1)
    for waiter in waiters: waiter.join()
    with condition: condition.notify_all()

signal.signal(signal.SIGUSR1, fork)
for _ in range(150):
    children = []
    waiters = [threading.Thread(target=wait) for _ in range(2)]
    for waiter in waiters: waiter.start()
    eventually_waiting(2)
    notifier = threading.Thread(target=notify)
    with condition:
        notifier.start()
        try: condition.wait()
        except InChild: os._exit(0)
    notifier.join()
    for child in children: assert os.waitpid(child, 0)[1] == 0
""")
