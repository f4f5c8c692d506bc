# SPDX-License-Identifier: Apache-2.0
"""What the tests of forks share: work in a child, threads of the parent, and threads that cannot get the GIL."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import processes
import pytest
from support import free_threaded

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

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
# From 3.12 on, os.fork() warns if the process has several threads.
allows_forks_with_threads = pytest.mark.filterwarnings("ignore::DeprecationWarning")
with_a_gil = pytest.mark.skipif(free_threaded(), reason="without a GIL, woken threads cannot be held up")


def in_child(work: Callable[[], None]) -> None:
    """Fork, and call `work` in the child. Fail if it raises or hangs there."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # ends the child if the parent dies
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


def check_that_it_works(lock: Any) -> None:
    """Let several threads of this process use the lock."""
    turns = []

    def work() -> None:
        for _ in range(50):
            with lock:
                turns.append(len(turns))

    join(start(4, work))
    assert turns == list(range(200))


@contextlib.contextmanager
def woken_threads_stay_detached() -> Iterator[None]:
    """Let a thread that is woken inside the block take what it waits for, but not the GIL."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def keep_busy() -> None:
    """Keep the GIL for long enough that woken threads take what they wait for."""
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
