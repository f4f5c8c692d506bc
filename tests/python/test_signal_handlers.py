# SPDX-License-Identifier: Apache-2.0
"""A signal handler that returns does not end the wait of the main thread. It may wait for locks, even the same one."""

from __future__ import annotations

import pytest
from conftest import Python
from signal_support import CHILD, makers, semaphore_makers
from support import POLICIES, STRICT_LOCKS, STRICT_SEMAPHORES, run_python

PROGRAM = """
import os, signal, threading, time
import fairlock

lock = fairlock.{lock}
held, entered = threading.Event(), threading.Event()
done = []

def take():
    with lock:
        done.append(threading.current_thread().name)

def handler(*_):
    entered.set()
    {handle}
    done.append("handled")

def holder():
    with lock:
        held.set()
        while not lock.waiters:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGUSR1)
        entered.wait()
        while not ({handled_so_far}):
            time.sleep(0.001)

signal.signal(signal.SIGUSR1, handler)
threading.Thread(target=holder).start()
held.wait()
assert lock.acquire({timeout})
lock.release()
print(*done, lock.statistics().abandoned)
"""

# What the handler does, when the owner may release the lock, and what the program prints.
HANDLERS = {
    "acquires it": ("take()", "lock.waiters == 2", "MainThread handled"),
    "joins a thread that acquires it": (
        "other = threading.Thread(target=take, name='other'); other.start(); other.join()",
        "lock.waiters == 2",
        "other handled",
    ),
    "ignores it": ("pass", "done", "handled"),
}


@pytest.mark.parametrize("timeout", ["", "timeout=30"])
@pytest.mark.parametrize(
    "lock",
    [
        "Lock()",
        "RLock()",
        "Lock('twa')",
        "Lock('ticket', waiting='park')",
        "Semaphore()",
        "Semaphore(1, 'twa-semaphore')",
    ],
)
@pytest.mark.parametrize("handler", HANDLERS)
def test_a_handler_may_wait_for_the_same_lock(handler: str, lock: str, timeout: str, python: Python) -> None:
    handle, handled_so_far, output = HANDLERS[handler]
    program = PROGRAM.format(lock=lock, handle=handle, handled_so_far=handled_so_far, timeout=timeout)
    result = python("-c", program)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{output} 0\n"  # a thread that steps out of line for a handler does not count as abandoned


@pytest.mark.parametrize("waiting", POLICIES)
def test_a_wait_continues_after_a_handler_that_returns(waiting: str) -> None:
    """The wait lasts until its deadline. While the handler runs, the thread is out of line, but it keeps a ticket."""
    ticket_locks = [name for name in STRICT_LOCKS if not name.startswith("hapax")]
    strict = [f"lambda: fairlock.Lock({name!r}, waiting={waiting!r})" for name in ticket_locks]
    run_python(
        CHILD
        + f"""
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(None))

for make in {makers(waiting)}[::2]:
    lock, release = held_by_a_thread(make)
    handled.clear()
    sender = start(interrupt, signal.SIGUSR1)
    while not handled:  # on a busy machine, the first waits may end before the signal comes
        began = time.monotonic()
        assert not lock.acquire(timeout=0.05)
        assert time.monotonic() - began >= 0.05
    sender.join(20)
    release()

def main_is_back():
    # A release would pass over the main thread while it is out of line for its handler.
    handles = sys._current_frames()[main].f_code.co_name != "<module>"
    with open(f"/proc/self/task/{{threading.main_thread().native_id}}/stat") as stat:
        sleeps = stat.read().rpartition(")")[2].split()[0] == "S"
    return not handles and (sleeps or not {waiting.endswith("park")})

for make in [{", ".join(strict)}, {semaphore_makers(waiting, STRICT_SEMAPHORES)}]:
    lock, release = held_by_a_thread(make)
    order = []
    handled.clear()
    def wait():
        assert lock.acquire(timeout=20)
        order.append("behind")
        lock.release()
    def disturb_and_release():
        interrupt(signal.SIGUSR1)
        eventually(lambda: len(handled) == 1 and main_is_back())
        time.sleep(0.1)  # it may have slept while it handed the GIL over
        eventually(main_is_back)
        behind = start(wait)
        eventually(lambda: lock.waiters == 2)
        interrupt(signal.SIGUSR1)
        eventually(lambda: len(handled) == 2 and main_is_back())
        time.sleep(0.1)  # it may have slept while it handed the GIL over
        eventually(main_is_back)
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


def test_a_handler_may_wait_for_other_locks() -> None:
    """A handler may also wait, with a timeout, for the lock that its thread waits for."""
    run_python(
        CHILD
        + f"""
handled = []
for make in {makers("spin-then-park")}:
    lock, release = held_by_a_thread(make)
    others = [held_by_a_thread(make) for make in {makers("park")}][::5]
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


def test_many_signals_during_contended_use() -> None:
    """With a thousand signals a second, no grant is lost, the threads exclude each other, and handlers run."""
    run_python(
        CHILD
        + f"""
handled = []
signal.signal(signal.SIGALRM, lambda *_: handled.append(None))

def use(lock, inside, stop, timeout):
    while not stop.is_set():
        if lock.acquire(timeout=timeout):
            assert not inside
            inside.append(None)
            inside.pop()
            lock.release()
        time.sleep(0)

for make in {makers("spin-then-park")}[::2]:
    lock, inside, stop = make(), [], threading.Event()
    threads = [start(use, lock, inside, stop, timeout) for timeout in (20, 20, 0.0005)]
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
