# SPDX-License-Identifier: Apache-2.0
"""The child of a fork starts with empty lines: the waiters are gone, and the forking thread keeps what it holds.

tests/python/test_fork_grants.py tests locks and permits that were on their way to a waiter when the process forked.
"""

from __future__ import annotations

import _thread
import os
import threading
from typing import Any

import pytest
from fork_support import (
    LOCKS,
    SEMAPHORES,
    allows_forks_with_threads,
    check_that_it_works,
    in_child,
    join,
    needs_fork,
    start,
)
from support import eventually, run_python

import fairlock

pytestmark = [needs_fork, allows_forks_with_threads]


@pytest.mark.parametrize("algorithm", LOCKS)
@pytest.mark.parametrize("type_", [fairlock.Lock, fairlock.RLock])
def test_the_owner_forks(type_: Any, algorithm: str) -> None:
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
            check_that_it_works(lock)

        in_child(child)
        assert lock.waiters == 3
    join(waiters)
    check_that_it_works(lock)


@pytest.mark.parametrize("algorithm", LOCKS)
def test_a_lock_of_another_thread_stays_locked_until_it_is_reinitialized(algorithm: str) -> None:
    lock, held, end = fairlock.Lock(algorithm), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            end.wait(20)

    def wait() -> None:
        with lock:
            pass

    owner = start(1, hold)
    assert held.wait(20)
    waiters = start(2, wait)
    eventually(lambda: lock.waiters == 2)

    def child() -> None:
        assert not lock.acquire(timeout=0.01)  # like a threading.Lock: locked forever
        lock._at_fork_reinit()
        check_that_it_works(lock)

    in_child(child)
    end.set()
    join([*owner, *waiters])


@pytest.mark.parametrize("algorithm", SEMAPHORES)
def test_permits_that_were_taken_stay_taken(algorithm: str) -> None:
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
        check_that_it_works(semaphore)
        semaphore.release()
        assert semaphore._value == 2

    in_child(child)
    semaphore.release(3)
    join(waiters)


def test_more_waiters_than_fit_in_line() -> None:
    """A thread that waits outside the line has no ticket, so the child's semaphore owes it no permit."""
    semaphore = fairlock.Semaphore(0, "twa-semaphore")
    in_line, outside = 4096, 54
    for started in range(in_line + outside):
        try:  # does not wait for the thread to start, which takes a long time on a busy machine
            _thread.start_new_thread(semaphore.acquire, ())
        except RuntimeError as error:
            semaphore.release(started)
            pytest.skip(f"after {started} threads: {error}")
    eventually(lambda: semaphore.waiters == in_line + outside)

    def child() -> None:
        assert not semaphore.acquire(blocking=False)

    in_child(child)

    def admit(count: int) -> None:
        remaining = semaphore.waiters - count
        semaphore.release(count)
        eventually(lambda: semaphore.waiters == remaining)

    for _ in range((in_line + outside) // 50):
        admit(50)  # a few at a time: thousands of threads that want the GIL at once take a long time


def test_conditions_and_events() -> None:
    condition, event = fairlock.Condition(), fairlock.Event()

    def wait() -> None:
        with condition:
            condition.wait()

    waiters = [*start(2, wait), *start(2, event.wait)]
    eventually(lambda: condition.waiters == 2 and event._cond.waiters == 2)
    with condition, event._cond:
        pass  # the waiters have released these locks, which they do after they enter the line

    def child() -> None:
        with condition:
            assert condition.waiters == 0
            condition.notify_all()
        new_waiters = start(1, wait)
        eventually(lambda: condition.waiters == 1)
        with condition:
            condition.notify()
        join(new_waiters)
        event.set()
        assert event.wait(5)

    in_child(child)
    with condition:
        condition.notify_all()
    event.set()
    join(waiters)


def test_a_waiter_that_is_still_releasing_a_foreign_lock() -> None:
    """A waiter enters the line of a condition before it releases the lock. The child removes such a waiter too."""
    inside, end, parent = threading.Event(), threading.Event(), os.getpid()

    class SlowToRelease:
        def _is_owned(self) -> bool:
            return True

        def acquire(self, *_: object) -> bool:
            return True

        def release(self) -> None:
            # Not in the child: a thread that was about to wait for `end` may have held the lock inside it at the fork.
            if os.getpid() == parent:
                inside.set()
                assert end.wait(20)

    condition = fairlock.Condition(SlowToRelease())
    waiters = start(1, condition.wait)
    assert inside.wait(20)

    def child() -> None:
        new_waiters = start(3, condition.wait)
        eventually(lambda: condition.waiters == 3)
        condition.notify(3)
        join(new_waiters)

    in_child(child)
    end.set()
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
        waiters = start(3, wait)  # one joins the owner's platoon, and two wait at the gate
        eventually(lambda: capacitor.waiters == 2)

        def child() -> None:
            capacitor.release()
            if inner is fairlock.Lock:
                check_that_it_works(capacitor)

        in_child(child)
    join(waiters)
    check_that_it_works(capacitor)


def test_storm() -> None:
    """Fork repeatedly while other threads arrive, wait, leave and release."""
    locks = [fairlock.Lock(name) for name in LOCKS]
    stop = False

    def work() -> None:
        i = 0
        while not stop:
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
            check_that_it_works(lock)

    for _ in range(20):
        in_child(child)
    stop = True
    join(threads)
    for lock in locks:
        assert lock.waiters == 0
        assert lock.acquire(blocking=False)


def test_a_handler_forks_while_its_thread_waits_for_a_condition() -> None:
    """In the child, the thread takes the lock again, even if the lock had just been granted to another waiter."""
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


def test_a_notification_in_the_child_reaches_the_thread_whose_handler_forked() -> None:
    """It stays in line, and the vanished waiters in front of it do not."""
    run_python("""
import os, signal, threading, time, warnings
import fairlock

warnings.simplefilter("ignore", DeprecationWarning)
condition = fairlock.Condition(fairlock.Lock())
main = threading.get_ident()
children = []

def eventually(holds):
    while not holds(): time.sleep(0.0005)

def wait():
    with condition: condition.wait()

def notify():
    eventually(lambda: condition.waiters == 1)
    with condition: condition.notify()

def fork(*_):
    child = os.fork()
    if child == 0: threading.Thread(target=notify).start()
    children.append(child)

def disturb():
    eventually(lambda: condition.waiters == 3)
    signal.pthread_kill(main, signal.SIGUSR1)
    eventually(lambda: children)
    with condition: condition.notify_all()

signal.signal(signal.SIGUSR1, fork)
waiters = [threading.Thread(target=wait) for _ in range(2)]
for waiter in waiters: waiter.start()
eventually(lambda: condition.waiters == 2)
disturber = threading.Thread(target=disturb)
with condition:
    disturber.start()
    notified = condition.wait(30)
if children == [0]:
    with condition:
        threading.Thread(target=notify).start()
        os._exit(0 if notified and condition.wait(30) else 1)
for thread in [disturber, *waiters]: thread.join()
assert notified and os.waitpid(children[0], 0)[1] == 0
""")
