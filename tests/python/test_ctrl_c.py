# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends every wait of the main thread, and leaves the line sound."""

from __future__ import annotations

import pytest
from signal_support import CHILD, lock_makers, makers
from support import POLICIES, run_python


@pytest.mark.parametrize("waiting", POLICIES)
def test_ctrl_c_ends_every_wait_for_a_lock(waiting: str) -> None:
    run_python(
        CHILD
        + f"""
for make in {makers(waiting)}:
    # alone in line
    lock, release = held_by_a_thread(make)
    expect_interrupt(lock.acquire)
    assert lock.waiters == 0
    expect_interrupt(lambda: lock.acquire(timeout=100))
    assert lock.waiters == 0
    assert not lock.acquire(timeout=0.001)
    # between two other waiters, which acquire the lock afterwards
    acquired = []
    def wait():
        assert lock.acquire(timeout=20)
        acquired.append(None)
        lock.release()
    threads = [start(wait)]
    eventually(lambda: lock.waiters == 1)
    def line_up_behind_and_interrupt():
        eventually(lambda: lock.waiters == 2)
        threads.append(start(wait))
        eventually(lambda: lock.waiters == 3)
        signal.pthread_kill(main, signal.SIGINT)
    sender = start(line_up_behind_and_interrupt)
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
    assert len(acquired) == 2
    assert lock.waiters == 0
    assert lock.acquire(timeout=0)
    assert isinstance(lock, fairlock.RLock) or not lock.acquire(timeout=0)
    lock.release()
"""
    )


def test_ctrl_c_ends_every_wait_for_a_condition() -> None:
    run_python(
        CHILD
        + """
for lock in (fairlock.Lock, fairlock.RLock, threading.Lock, threading.RLock):
    condition = fairlock.Condition(lock())
    for timeout in (None, 100):
        with condition:
            expect_interrupt(lambda: condition.wait(timeout))
            assert condition._is_owned() and condition.waiters == 0
            expect_interrupt(lambda: condition.wait_for(lambda: False, timeout))
            assert condition._is_owned() and condition.waiters == 0
        assert condition.acquire(timeout=0)
        condition.release()

event = fairlock.Event()
expect_interrupt(event.wait)
expect_interrupt(lambda: event.wait(100))
start(lambda: (time.sleep(0.01), event.set()))
assert event.wait(20)

barrier = fairlock.Barrier(2)
expect_interrupt(barrier.wait)
assert not barrier.broken and barrier.n_waiting == 0  # like threading.Barrier

other = start(barrier.wait)
barrier.wait(20)
other.join(20)
assert not other.is_alive()
"""
    )


def test_an_rlock_keeps_its_count_after_ctrl_c() -> None:
    run_python(
        CHILD
        + """
lock = fairlock.RLock()
condition = fairlock.Condition(lock)
with lock, lock, lock:
    expect_interrupt(condition.wait)
    assert lock._recursion_count() == 3
assert not lock.locked()
"""
    )


@pytest.mark.parametrize("waiting", ["yield", "monitor", "spin"])
def test_ctrl_c_ends_a_wait_that_never_sleeps_on_a_busy_machine(waiting: str) -> None:
    """A waiter that never sleeps notices a signal only when it looks, and the next look may be a time slice away."""
    run_python(
        CHILD
        + f"""
import os, subprocess
hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(os.sched_getaffinity(0)))]
try:
    time.sleep(0.1)
    lock, release = held_by_a_thread(lambda: fairlock.Lock("twa", waiting={waiting!r}))
    sender = start(interrupt)
    try:
        lock.acquire(timeout=20)
        raise SystemExit("not interrupted")
    except KeyboardInterrupt:
        assert lock.statistics().longest < 15, lock.statistics()
finally:
    for hog in hogs:
        hog.kill()
        hog.wait()
"""
    )


def test_ctrl_c_while_a_handler_waits() -> None:
    """Both waits end, the inner one first, and both lines stay sound."""
    run_python(
        CHILD
        + """
for make in (fairlock.Lock, lambda: fairlock.Lock("twa"), lambda: fairlock.Semaphore(1, "twa-semaphore")):
    outer, release_outer = held_by_a_thread(make)
    inner, release_inner = held_by_a_thread(make)
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


def test_many_interruptions_during_contended_use() -> None:
    """The handler raises each time. Signals arrive only while the main thread waits or sleeps."""
    run_python(
        CHILD
        + f"""
raise_on_sigusr1()

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
    interrupted = 0
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
        except Handled:
            interrupted += 1
        if lock.owner == main:
            lock.release()
        sender.join()
    stop.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert interrupted == 20
    assert lock.waiters == 0
    assert lock.acquire(timeout=0), lock
"""
    )
