# SPDX-License-Identifier: Apache-2.0
"""Signals that terminate this process. Before it ends, it stops the programs that it started, and cleans up."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)


def in_main_thread() -> bool:
    """Return whether the calling thread may set signal handlers: only the main thread may."""
    return threading.current_thread() is threading.main_thread()


def all_as_ctrl_c() -> None:
    """Raise KeyboardInterrupt for every terminating signal, so that the process keeps results and removes files."""
    if in_main_thread():
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:  # keep a signal ignored that `nohup`, for example, ignores
                signal.signal(number, signal.default_int_handler)


@contextlib.contextmanager
def deferred() -> Iterator[tuple[list[int], int, int]]:
    """Raise KeyboardInterrupt only at the end of the block.

    A repeated signal, which `timeout` sends, then does not interrupt the cleanup.

    Yield the list of signals so far, and the two ends of a pipe to which each signal writes a byte. The block must wait
    for this pipe. A handler runs only between two instructions, so any other wait misses a signal just before it.
    """
    received: list[int] = []
    before: dict[int, Any] = {}
    pipe_before = -1
    with blocked():
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        if in_main_thread():
            pipe_before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
            for ending in (signal.SIGINT, *ENDING):
                if signal.getsignal(ending) is signal.default_int_handler:
                    before[ending] = signal.signal(ending, lambda number, _: received.append(number))
    try:
        yield received, read, write
    finally:
        with blocked():
            for number, handler in before.items():
                signal.signal(number, handler)
            if in_main_thread():
                signal.set_wakeup_fd(pipe_before)
            os.close(read)
            os.close(write)
    if received:
        raise KeyboardInterrupt


@contextlib.contextmanager
def blocked() -> Iterator[None]:
    """Block these signals until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDING))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
