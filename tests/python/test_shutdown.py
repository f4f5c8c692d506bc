# SPDX-License-Identifier: Apache-2.0
"""The end of the interpreter: with daemon threads in every kind of wait, locks that are held, and late users."""

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

def again_and_again(wait):
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
    "everybody waits": "targets = waits",
    "waits come to an end": "targets = [lambda wait=wait: again_and_again(wait) for wait in short]",
    "all at once": "targets = waits[::2] + [lambda wait=wait: again_and_again(wait) for wait in short]",
}

END = """
for target in targets:
    threading.Thread(target=target, daemon=True).start()
time.sleep(0.01)
"""


@pytest.mark.parametrize("way", WAYS)
def test_daemon_threads(way: str) -> None:
    for _ in range(12):
        run_python(CHILD + WAYS[way] + END)


def test_locks_are_let_go_of_while_the_interpreter_ends() -> None:
    """Daemon threads are called in the middle of the end, one after the other."""
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


def test_atexit_may_lock() -> None:
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
keep = Late()
sys_keep = [keep]; sys_keep.append(sys_keep)
"""
    )
    assert out.startswith("False False\n")


def test_threads_that_hold_locks() -> None:
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
def hold_for_ever():
    with fairlock.RLock("twa"):
        time.sleep(1000)
threading.Thread(target=hold_for_ever, daemon=True).start()
"""
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before, sys.exit() of other threads is not told apart")
def test_a_thread_that_ends_while_it_holds() -> None:
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
