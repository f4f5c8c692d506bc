# SPDX-License-Identifier: Apache-2.0
"""The interpreter can end while daemon threads wait, while locks are held, and while exit handlers use locks."""

from __future__ import annotations

import sys

import pytest
from support import run_python

CHILD = """
import atexit, sys, threading, time
import fairlock
held = [fairlock.Lock(), fairlock.Lock("twa"), fairlock.Lock("hapax-vw"), fairlock.Lock(waiting="yield")]
held += [fairlock.RLock(), fairlock.Semaphore(1, "twa-semaphore")]
for lock in held:
    lock.acquire()
condition = fairlock.Condition()
event = fairlock.Event()
barrier = fairlock.Barrier(50)
free = fairlock.Lock()

def wait_for_condition(timeout):
    with condition:
        condition.wait(timeout)

def repeat(wait):
    while True:
        wait()

def use():
    with free:
        pass

waits = [
    *(lock.acquire for lock in held),
    *(lambda lock=lock: lock.acquire(timeout=50) for lock in held),
    lambda: wait_for_condition(None), lambda: wait_for_condition(50), event.wait, barrier.wait,
]
short = [*(lambda lock=lock: lock.acquire(timeout=0.0003) for lock in held), lambda: wait_for_condition(0.0003)]
short += [use, use]
"""

WAYS = {
    "long waits": "targets = waits",
    "waits that end": "targets = [lambda wait=wait: repeat(wait) for wait in short]",
    "both": "targets = waits[::2] + [lambda wait=wait: repeat(wait) for wait in short]",
}

END = """
for target in targets:
    threading.Thread(target=target, daemon=True).start()
time.sleep(0.01)
"""


@pytest.mark.parametrize("way", WAYS)
def test_daemon_threads_wait_at_the_end(way: str) -> None:
    for _ in range(12):
        run_python(CHILD + WAYS[way] + END)


def test_locks_are_released_while_the_interpreter_ends() -> None:
    """Each release admits a daemon thread, in the middle of the finalization."""
    for _ in range(12):
        run_python(
            CHILD
            + "targets = waits"
            + END
            + """
class AtTheEnd:
    def __del__(self):
        for lock in held:
            lock.release()
        condition.acquire(); condition.notify_all(); condition.release()
        event.set()
sys.at_the_end = AtTheEnd()
def release():
    for lock in held[:2]:
        lock.release()
        lock.acquire(timeout=0.001)
        if not lock.locked():
            lock.acquire(timeout=0.001)
        if not lock.locked():
            break
    held[:2] = []
atexit.register(release)
""",
        )


def test_exit_handlers_and_finalizers_may_use_locks() -> None:
    out = run_python(
        """
import atexit, threading, fairlock
locks = [fairlock.Lock(), fairlock.RLock(), fairlock.Semaphore(), fairlock.Condition()]
def late():
    for lock in locks:
        with lock:
            pass
        with type(lock)():
            pass
    with locks[3]:
        locks[3].wait(0.001)
    locks[0].acquire()
    print(locks[0].acquire(timeout=0.001), fairlock.Event().wait(0.001))
atexit.register(late)
class Late:
    def __init__(self, lock=fairlock.Lock()):
        self.lock = lock
    def __del__(self):
        with self.lock:
            print("late")
late_object = Late()
cycle = [late_object]; cycle.append(cycle)
"""
    )
    assert out.startswith("False False\n")


def test_threads_hold_locks_at_the_end() -> None:
    run_python(
        """
import threading, time, fairlock
lock = fairlock.Lock()
def hold():
    with lock:
        time.sleep(0.05)
def wait():
    with lock:
        pass
threading.Thread(target=hold).start()
for _ in range(3):
    threading.Thread(target=wait).start()
def hold_forever():
    with fairlock.RLock("twa"):
        time.sleep(1000)
threading.Thread(target=hold_forever, daemon=True).start()
"""
    )


@pytest.mark.skipif(
    sys.version_info < (3, 12), reason="before 3.12, _thread.exit() of a thread is reported as an error"
)
def test_a_thread_ends_while_it_holds_a_lock() -> None:
    run_python(
        """
import threading, _thread, fairlock
lock = fairlock.Lock()
thread = threading.Thread(target=lambda: (lock.acquire(), _thread.exit()))
thread.start()
thread.join()
assert lock.locked() and lock.owner is not None
lock.release()
assert lock.owner is None
"""
    )
