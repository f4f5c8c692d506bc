# SPDX-License-Identifier: Apache-2.0
"""Signals: Ctrl-C ends every wait of the main thread, and leaves every line sound; other handlers change nothing.

Each test runs in a process of its own, whose main thread waits, and where another thread sends real signals to it.
"""

from __future__ import annotations

import pytest
from support import LOCKS, POLICIES, SEMAPHORES, STRICT_LOCKS, STRICT_SEMAPHORES, run_python

CHILD = """
import random, signal, sys, threading, time
import fairlock
from fairlock._locks import waits

main = threading.main_thread().ident
until_main_waits = lambda: any(thread == main for thread, _, _ in waits())

def eventually(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.0005)

def start(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread

def interrupt(number=signal.SIGINT):
    eventually(until_main_waits)
    signal.pthread_kill(main, number)

def interrupted(wait):
    sender = start(interrupt)
    try:
        wait()
    except KeyboardInterrupt:
        sender.join(20)
        return
    assert False, "not interrupted"

class Now(Exception): pass

def raise_now(before=lambda: None):
    '''The handler of SIGUSR1 raises, after this.'''
    def handle(*_):
        before()
        raise Now
    signal.signal(signal.SIGUSR1, handle)

def held_by(make):
    '''Another thread holds it until release() is called.'''
    let_go, has_it = threading.Event(), threading.Event()
    lock = make()
    def hold():
        lock.acquire()
        has_it.set()
        let_go.wait()
        lock.release()
    holder = start(hold)
    has_it.wait()
    def release():
        let_go.set()
        holder.join(20)
        assert not holder.is_alive()
    return lock, release
"""


def makers(waiting: str) -> str:
    return f"[{lock_makers(waiting)}, {semaphore_makers(waiting, SEMAPHORES)}]"


def lock_makers(waiting: str) -> str:
    kinds = [f"fairlock.{kind}({name!r}" for name in LOCKS for kind in ("Lock", "RLock")]
    return ", ".join(f"lambda: {kind}, waiting={waiting!r})" for kind in kinds)


def semaphore_makers(waiting: str, names: list[str]) -> str:
    return ", ".join(f"lambda: fairlock.Semaphore(1, {name!r}, waiting={waiting!r})" for name in names)


@pytest.mark.parametrize("waiting", POLICIES)
def test_ctrl_c_ends_every_wait_for_a_lock(waiting: str) -> None:
    run_python(
        CHILD
        + f"""
for make in {makers(waiting)}:
    # alone in line
    lock, release = held_by(make)
    interrupted(lock.acquire)
    assert lock.waiters == 0
    interrupted(lambda: lock.acquire(timeout=100))
    assert lock.waiters == 0
    assert not lock.acquire(timeout=0.001)
    # with others before and behind, who are served
    served = []
    def wait():
        assert lock.acquire(timeout=20)
        served.append(None)
        lock.release()
    threads = [start(wait)]
    eventually(lambda: lock.waiters == 1)
    def come_behind():
        eventually(lambda: lock.waiters == 2)
        threads.append(start(wait))
        eventually(lambda: lock.waiters == 3)
        signal.pthread_kill(main, signal.SIGINT)
    sender = start(come_behind)
    try:
        lock.acquire()
        assert False
    except KeyboardInterrupt:
        pass
    sender.join()
    assert lock.waiters == 2
    release()
    for thread in threads:
        thread.join(20)
    assert len(served) == 2
    assert lock.waiters == 0
    assert lock.acquire(timeout=0)
    assert isinstance(lock, fairlock.RLock) or not lock.acquire(timeout=0)
    lock.release()
"""
    )


def test_ctrl_c_ends_waits_for_events() -> None:
    run_python(
        CHILD
        + """
for lock in (fairlock.Lock, fairlock.RLock, threading.Lock, threading.RLock):
    condition = fairlock.Condition(lock())
    for timeout in (None, 100):
        with condition:
            interrupted(lambda: condition.wait(timeout))
            assert condition._is_owned() and condition.waiters == 0
            interrupted(lambda: condition.wait_for(lambda: False, timeout))
            assert condition._is_owned() and condition.waiters == 0
        assert condition.acquire(timeout=0)
        condition.release()

event = fairlock.Event()
interrupted(event.wait)
interrupted(lambda: event.wait(100))
start(lambda: (time.sleep(0.01), event.set()))
assert event.wait(20)

barrier = fairlock.Barrier(2)
interrupted(barrier.wait)
assert not barrier.broken and barrier.n_waiting == 0  # as with threading

other = start(barrier.wait)
barrier.wait(20)
other.join(20)
assert not other.is_alive()
"""
    )


def test_recursively_held_lock_is_held_as_before_after_ctrl_c() -> None:
    run_python(
        CHILD
        + """
lock = fairlock.RLock()
condition = fairlock.Condition(lock)
with lock, lock, lock:
    interrupted(condition.wait)
    assert lock._recursion_count() == 3
assert not lock.locked()
"""
    )


@pytest.mark.parametrize("waiting", POLICIES)
def test_a_handler_that_returns_changes_nothing(waiting: str) -> None:
    """The wait goes on to its deadline. The thread is out of line meanwhile; if it had a ticket, it keeps that."""
    tickets = [name for name in STRICT_LOCKS if not name.startswith("hapax")]
    strict = [f"lambda: fairlock.Lock({name!r}, waiting={waiting!r})" for name in tickets]
    run_python(
        CHILD
        + f"""
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(None))

for make in {makers(waiting)}[::2]:
    lock, release = held_by(make)
    handled.clear()
    sender = start(interrupt, signal.SIGUSR1)
    began = time.monotonic()
    assert not lock.acquire(timeout=0.05)
    assert time.monotonic() - began >= 0.05
    sender.join(20)
    assert handled
    release()

for make in [{", ".join(strict)}, {semaphore_makers(waiting, STRICT_SEMAPHORES)}]:
    lock, release = held_by(make)
    order = []
    handled.clear()
    def wait():
        assert lock.acquire(timeout=20)
        order.append("behind")
        lock.release()
    def disturb_and_release():
        interrupt(signal.SIGUSR1)
        eventually(lambda: len(handled) == 1)
        behind = start(wait)
        eventually(lambda: lock.waiters == 2)
        interrupt(signal.SIGUSR1)
        eventually(lambda: len(handled) == 2)
        release()
        behind.join(20)
    sender = start(disturb_and_release)
    assert lock.acquire(timeout=20)
    order.append("main")
    lock.release()
    sender.join(20)
    assert order == ["main", "behind"], order
"""
    )


@pytest.mark.parametrize("waiting", ["yield", "monitor", "spin"])
def test_signals_are_handled_on_a_busy_machine(waiting: str) -> None:
    """Whoever does not sleep hears of signals only when it looks for them, and a look may take long."""
    run_python(
        CHILD
        + f"""
import os, subprocess
hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
try:
    time.sleep(0.1)
    lock, release = held_by(lambda: fairlock.Lock("twa", waiting={waiting!r}))
    sender = start(interrupt)
    try:
        lock.acquire(timeout=4)
        raise SystemExit("not interrupted")
    except KeyboardInterrupt:
        assert lock.statistics().longest < 3, lock.statistics()
finally:
    for hog in hogs:
        hog.kill()
        hog.wait()
"""
    )


def test_a_handler_may_wait_too() -> None:
    """For other locks, and for the one that was waited for."""
    run_python(
        CHILD
        + f"""
handled = []
for make in {makers("spin-then-park")}:
    lock, release = held_by(make)
    others = [held_by(make) for make in {makers("park")}][::5]
    free = make()
    def handle(*_):
        with free:
            pass
        assert not lock.acquire(timeout=0.002)
        for other, _ in others:
            assert not other.acquire(timeout=0.0005)
        assert not fairlock.Event().wait(0.001)
        handled.append(None)
    signal.signal(signal.SIGUSR1, handle)
    handled.clear()
    def disturb_and_release():
        interrupt(signal.SIGUSR1)
        eventually(lambda: len(handled) == 1)
        interrupt(signal.SIGUSR1)
        eventually(lambda: len(handled) == 2)
        release()
        for _, other_release in others:
            other_release()
    sender = start(disturb_and_release)
    assert lock.acquire(timeout=20)
    lock.release()
    sender.join(20)
    eventually(lambda: lock.waiters == 0)
    assert lock.acquire(timeout=0)
    lock.release()
    assert all(other.waiters == 0 for other, _ in others)
"""
    )


def test_ctrl_c_during_the_wait_of_a_handler() -> None:
    """Both waits end, the inner one first, and both lines stay sound."""
    run_python(
        CHILD
        + """
for make in (fairlock.Lock, lambda: fairlock.Lock("twa"), lambda: fairlock.Semaphore(1, "twa-semaphore")):
    outer, release_outer = held_by(make)
    inner, release_inner = held_by(make)
    def handle(*_):
        inner.acquire()
    signal.signal(signal.SIGUSR1, handle)
    def disturb():
        interrupt(signal.SIGUSR1)
        eventually(lambda: inner.waiters == 1)
        time.sleep(0.002)
        assert outer.waiters == 1
        signal.pthread_kill(main, signal.SIGINT)
    sender = start(disturb)
    try:
        outer.acquire()
        assert False
    except KeyboardInterrupt:
        pass
    sender.join(20)
    for lock, release in ((outer, release_outer), (inner, release_inner)):
        assert lock.waiters == 0
        release()
        assert lock.acquire(timeout=0)
"""
    )


def test_many_signals_during_contended_use() -> None:
    """A thousand a second: nothing is lost, nobody is in twice, and the signals are handled."""
    run_python(
        CHILD
        + f"""
handled = []
signal.signal(signal.SIGALRM, lambda *_: handled.append(None))

def use(lock, inside, stop, patience):
    while not stop.is_set():
        if lock.acquire(timeout=patience):
            assert not inside
            inside.append(None)
            inside.pop()
            lock.release()
        time.sleep(0)

for make in {makers("spin-then-park")}[::2]:
    lock, inside, stop = make(), [], threading.Event()
    threads = [start(use, lock, inside, stop, patience) for patience in (20, 20, 0.0005)]
    handled.clear()
    start(lambda: (time.sleep(0.1), stop.set()))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    use(lock, inside, stop, 20)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert handled
    assert lock.waiters == 0
    assert lock.acquire(timeout=0), lock
"""
    )


def test_many_interruptions_during_contended_use() -> None:
    """The handler raises each time; the signals come only while the main thread waits."""
    run_python(
        CHILD
        + f"""
raise_now()

def use(lock, inside, stop):
    while not stop.is_set():
        with lock:
            assert not inside
            inside.append(None)
            time.sleep(0.0002)
            inside.pop()

for make in [{lock_makers("spin-then-park")}]:
    lock, inside, stop = make(), [], threading.Event()
    threads = [start(use, lock, inside, stop) for _ in range(2)]
    ended = 0
    for i in range(20):
        go = threading.Event()
        def send():
            go.wait()
            time.sleep(random.uniform(0, 0.0004))
            signal.pthread_kill(main, signal.SIGUSR1)
        sender = start(send)
        try:
            go.set()
            lock.acquire()
            while True:
                time.sleep(1)
        except Now:
            ended += 1
        if lock.owner == main:
            lock.release()
        sender.join()
    stop.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert ended == 20
    assert lock.waiters == 0
    assert lock.acquire(timeout=0), lock
"""
    )


def test_no_permit_is_lost_to_ctrl_c() -> None:
    """Permits come while the handler raises: those are passed on."""
    run_python(
        CHILD
        + f"""
raise_now()
for make in [{semaphore_makers("spin-then-park", SEMAPHORES)}]:
    semaphore = make()
    assert semaphore.acquire()
    for i in range(100):
        had = []
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
                had.append(semaphore.acquire(timeout=20))
                while True:
                    time.sleep(1)  # the signal is on its way
            finally:
                ended = True
        except Now:
            pass
        sender.join(20)
        # Taken and raised afterwards, before it was noted: then nobody has it. Otherwise it is there.
        assert semaphore._value + len(had) <= 1
        assert semaphore.waiters == 0
        if semaphore._value == 1:
            assert semaphore.acquire(timeout=0)
        assert not semaphore.acquire(timeout=0)
"""
    )


def test_a_notification_is_not_lost_to_ctrl_c() -> None:
    """Either the main thread returns from wait(), or the next in line is notified."""
    run_python(
        CHILD
        + """
raise_now()
condition = fairlock.Condition(fairlock.Lock())
for i in range(60):
    got = []
    def wait():
        with condition:
            condition.wait(20)
            got.append("other")
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
        eventually(lambda: got)
        with condition:
            condition.notify_all()
        other.join(20)
    sender = start(notify_and_interrupt)
    try:
        with condition:
            try:
                condition.wait(20)
                got.append("main")
            finally:
                assert condition._lock.owner == main
        sender.join(20)
        while True:
            time.sleep(1)  # the signal is on its way
    except Now:
        # After wait() had returned, before that was noted: the interpreter's gap, which is no loss of ours.
        gap = not got and condition.waiters == 1
        if gap:
            time.sleep(0.05)
            if not got:
                got.append("main")
    sender.join(20)
    assert not sender.is_alive()
    assert condition.waiters == 0
"""
    )


@pytest.mark.parametrize("lock", ["Lock()", "RLock()", "Lock('twa')"])
def test_a_notification_is_not_lost_with_a_handler_that_raises(lock: str) -> None:
    """The handler itself notifies the main thread, which is the first in line, and raises: the next one gets it."""
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
raise_now(notify)
def disturb():
    eventually(until_main_waits)
    waiter.append(start(wait))
    eventually(lambda: condition.waiters == 2)
    signal.pthread_kill(main, signal.SIGUSR1)
waiter = []
start(disturb)
try:
    with condition:
        condition.wait(20)
    assert False, "not interrupted"
except Now:
    pass
waiter[0].join(20)
assert notified == [True], notified
assert condition.waiters == 0
"""
    )


@pytest.mark.parametrize("waiting", ["yield", "monitor", "spin"])
def test_a_grant_that_comes_while_a_handler_raises_is_passed_on(waiting: str) -> None:
    """Those who never sleep are in line while the handler runs: here the lock comes to them before it raises."""
    strict = [f"lambda: fairlock.Lock({name!r}, waiting={waiting!r})" for name in STRICT_LOCKS]
    run_python(
        CHILD
        + f"""
for make in [{", ".join(strict)}, {semaphore_makers(waiting, STRICT_SEMAPHORES)}]:
    lock, release = held_by(make)
    raise_now(release)
    start(interrupt, signal.SIGUSR1)
    try:
        lock.acquire()
        assert False, "not interrupted"
    except Now:
        pass
    assert lock.waiters == 0
    assert lock.acquire(timeout=5), lock
    assert not lock.acquire(timeout=0), lock
"""
    )
