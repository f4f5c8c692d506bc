# SPDX-License-Identifier: Apache-2.0
"""Signals that would terminate this process: it first ends the programs that it has started, and tidies up."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)


def ours() -> bool:
    """Return whether the calling thread may set signal handlers: only the main thread may."""
    return threading.current_thread() is threading.main_thread()


def all_as_ctrl_c() -> None:
    """Raise KeyboardInterrupt for every terminating signal, so that results are kept and temporary files removed."""
    if ours():
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:  # not a signal that nohup, say, has ignored
                signal.signal(number, signal.default_int_handler)


@contextlib.contextmanager
def deferred() -> Iterator[tuple[list[int], int, int]]:
    """Raise KeyboardInterrupt only at the end of the block.

    A signal that comes again, as `timeout` sends it, then does not interrupt the tidying up.

    Yield the list of signals that came, and the two ends of a pipe to which each signal writes a byte. Wait for the
    pipe: a handler runs only between two instructions, so any other wait misses a signal that came just before it.
    """
    came: list[int] = []
    before: dict[int, Any] = {}
    pipe_before = -1
    with held_back():
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        if ours():
            pipe_before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
            for one in (signal.SIGINT, *ENDING):
                if signal.getsignal(one) is signal.default_int_handler:
                    before[one] = signal.signal(one, lambda number, frame: came.append(number))
    try:
        yield came, read, write
    finally:
        with held_back():
            for number, was in before.items():
                signal.signal(number, was)
            if ours():
                signal.set_wakeup_fd(pipe_before)
            os.close(read)
            os.close(write)
    if came:
        raise KeyboardInterrupt


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Block these signals until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDING))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
