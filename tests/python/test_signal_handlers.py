# SPDX-License-Identifier: Apache-2.0
"""A signal handler that runs while the main thread waits for a lock may wait for the same lock, as with threading's."""

from __future__ import annotations

import pytest
from conftest import Python

PROGRAM = """
import os, signal, threading, time
import fairlock

lock = fairlock.{lock}
held, begun = threading.Event(), threading.Event()
done = []

def take():
    with lock:
        done.append(threading.current_thread().name)

def handler(*_):
    begun.set()
    {handle}
    done.append("handled")

def holder():
    with lock:
        held.set()
        while not lock.waiters:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGUSR1)
        begun.wait()
        while not ({so_far}):
            time.sleep(0.001)

signal.signal(signal.SIGUSR1, handler)
threading.Thread(target=holder).start()
held.wait()
assert lock.acquire({timeout})
lock.release()
print(*done, lock.statistics().abandoned)
"""

HANDLERS = {
    "takes it": ("take()", "lock.waiters == 2", "MainThread handled"),
    "waits for one who takes it": (
        "other = threading.Thread(target=take, name='other'); other.start(); other.join()",
        "lock.waiters == 2",
        "other handled",
    ),
    "does without it": ("pass", "done", "handled"),
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
def test_handler_while_the_main_thread_waits(handler: str, lock: str, timeout: str, python: Python) -> None:
    handle, so_far, prints = HANDLERS[handler]
    result = python("-c", PROGRAM.format(lock=lock, handle=handle, so_far=so_far, timeout=timeout))
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{prints} 0\n"  # to step out of line for a handler is not to give up
