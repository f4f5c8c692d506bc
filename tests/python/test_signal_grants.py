# SPDX-License-Identifier: Apache-2.0
"""No lock, permit or notification is lost if it comes while a signal handler raises."""

from __future__ import annotations

import pytest
from signal_support import CHILD, semaphore_makers
from support import SEMAPHORES, STRICT_LOCKS, STRICT_SEMAPHORES, run_python


def test_a_permit_that_comes_while_a_handler_raises_is_not_lost() -> None:
    """The semaphore keeps the permit, or passes it on."""
    run_python(
        CHILD
        + f"""
raise_on_sigusr1()
for make in [{semaphore_makers("spin-then-park", SEMAPHORES)}]:
    semaphore = make()
    assert semaphore.acquire()
    for i in range(100):
        acquired = []
        def disturb():
            eventually(lambda: semaphore.waiters == 1)
            if i % 2:
                signal.pthread_kill(main, signal.SIGUSR1)
                semaphore.release()
            else:
                semaphore.release()
                signal.pthread_kill(main, signal.SIGUSR1)
            eventually(lambda: ended)
        ended = False
        sender = start(disturb)
        try:
            try:
                acquired.append(semaphore.acquire(timeout=20))
                while True:
                    time.sleep(1)  # the signal is on its way
            finally:
                ended = True
        except Handled:
            pass
        sender.join(20)
        # If the handler raised between acquire() and append(), the permit is taken. Otherwise it is available.
        assert semaphore._value + len(acquired) <= 1
        assert semaphore.waiters == 0
        if semaphore._value == 1:
            assert semaphore.acquire(timeout=0)
        assert not semaphore.acquire(timeout=0)
"""
    )


def test_a_notification_that_comes_while_a_handler_raises_is_not_lost() -> None:
    """Either the main thread returns from wait(), or the next waiter is notified."""
    run_python(
        CHILD
        + """
raise_on_sigusr1()
condition = fairlock.Condition(fairlock.Lock())
for i in range(60):
    notified = []
    def wait():
        with condition:
            condition.wait(20)
            notified.append("other")
    def notify_and_interrupt():
        eventually(lambda: condition.waiters == 1)
        other = start(wait)
        eventually(lambda: condition.waiters == 2)
        if i % 3 == 0:
            signal.pthread_kill(main, signal.SIGUSR1)
        with condition:
            condition.notify()
            if i % 3 == 1:
                signal.pthread_kill(main, signal.SIGUSR1)
        if i % 3 == 2:
            signal.pthread_kill(main, signal.SIGUSR1)
        eventually(lambda: notified)
        with condition:
            condition.notify_all()
        other.join(20)
    sender = start(notify_and_interrupt)
    try:
        with condition:
            try:
                condition.wait(20)
                notified.append("main")
            finally:
                assert condition._lock.owner == main
        sender.join(20)
        while True:
            time.sleep(1)  # the signal is on its way
    except Handled:
        # If the handler raised between wait() and append(), the notification is used up: no lock can prevent that.
        in_between = not notified and condition.waiters == 1
        if in_between:
            time.sleep(0.05)
            if not notified:
                notified.append("main")
    sender.join(20)
    assert not sender.is_alive()
    assert condition.waiters == 0
"""
    )


@pytest.mark.parametrize("lock", ["Lock()", "RLock()", "Lock('twa')"])
def test_a_notification_from_a_handler_that_raises_is_passed_on(lock: str) -> None:
    """The handler notifies its own thread, the first in line, and raises: the next waiter gets the notification."""
    run_python(
        CHILD
        + f"""
condition, notified = fairlock.Condition(fairlock.{lock}), []
def wait():
    with condition:
        notified.append(condition.wait(20))
def notify():
    with condition:
        condition.notify()
raise_on_sigusr1(notify)
def disturb():
    eventually(main_waits)
    waiter.append(start(wait))
    eventually(lambda: condition.waiters == 2)
    signal.pthread_kill(main, signal.SIGUSR1)
waiter = []
start(disturb)
try:
    with condition:
        condition.wait(20)
    assert False, "not interrupted"
except Handled:
    pass
waiter[0].join(20)
assert notified == [True], notified
assert condition.waiters == 0
"""
    )


@pytest.mark.parametrize("waiting", ["yield", "monitor", "spin"])
def test_a_grant_that_comes_while_a_handler_raises_is_passed_on(waiting: str) -> None:
    """A waiter that never sleeps stays in line while the handler runs, and gets the lock before the handler raises."""
    strict = [f"lambda: fairlock.Lock({name!r}, waiting={waiting!r})" for name in STRICT_LOCKS]
    run_python(
        CHILD
        + f"""
for make in [{", ".join(strict)}, {semaphore_makers(waiting, STRICT_SEMAPHORES)}]:
    lock, release = held_by_a_thread(make)
    raise_on_sigusr1(release)
    start(interrupt, signal.SIGUSR1)
    try:
        lock.acquire()
        assert False, "not interrupted"
    except Handled:
        pass
    assert lock.waiters == 0
    assert lock.acquire(timeout=5), lock
    assert not lock.acquire(timeout=0), lock
"""
    )
