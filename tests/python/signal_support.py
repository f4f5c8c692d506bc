# SPDX-License-Identifier: Apache-2.0
"""What the tests of signals share.

Each of these tests runs in a process of its own, whose main thread waits while another thread sends real signals to it.
"""

from __future__ import annotations

from support import LOCKS, SEMAPHORES

CHILD = """
import random, signal, sys, threading, time
import fairlock
from fairlock._locks import waits

main = threading.main_thread().ident

def main_waits():
    return any(thread == main for thread, _, _ in waits())

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
    eventually(main_waits)
    signal.pthread_kill(main, number)

def expect_interrupt(wait):
    '''Send a SIGINT to the main thread while it waits. The wait must raise KeyboardInterrupt.'''
    sender = start(interrupt)
    try:
        wait()
    except KeyboardInterrupt:
        sender.join(20)
        return
    assert False, "not interrupted"

class Handled(Exception): pass

def raise_on_sigusr1(before=lambda: None):
    '''Install a handler that calls `before`, and then raises.'''
    def handle(*_):
        before()
        raise Handled
    signal.signal(signal.SIGUSR1, handle)

def held_by_a_thread(make):
    '''Make a lock that another thread holds. Return it, and a function that makes that thread release it.'''
    held, end = threading.Event(), threading.Event()
    lock = make()
    def hold():
        lock.acquire()
        held.set()
        end.wait()
        lock.release()
    holder = start(hold)
    held.wait()
    def release():
        end.set()
        holder.join(20)
        assert not holder.is_alive()
    return lock, release
"""


def makers(waiting: str) -> str:
    """Return a Python list of functions that make every kind of lock and semaphore, as source text."""
    return f"[{lock_makers(waiting)}, {semaphore_makers(waiting, SEMAPHORES)}]"


def lock_makers(waiting: str) -> str:
    kinds = [f"fairlock.{kind}({name!r}" for name in LOCKS for kind in ("Lock", "RLock")]
    return ", ".join(f"lambda: {kind}, waiting={waiting!r})" for kind in kinds)


def semaphore_makers(waiting: str, names: list[str]) -> str:
    return ", ".join(f"lambda: fairlock.Semaphore(1, {name!r}, waiting={waiting!r})" for name in names)
