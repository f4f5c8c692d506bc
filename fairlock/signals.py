# SPDX-License-Identifier: Apache-2.0
"""Signals that would end us: until we have tidied up, they only end what we have started."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)


def ours() -> bool:
    """Return whether we may choose what signals do: only the main thread may."""
    return threading.current_thread() is threading.main_thread()


def all_as_ctrl_c() -> None:
    """Keep what is done, and leave nothing behind, also if we are told to end or the terminal goes away."""
    if ours():
        for number in ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:  # and not ignored, as by nohup
                signal.signal(number, signal.default_int_handler)


@contextlib.contextmanager
def deferred() -> Iterator[tuple[list[int], int, int]]:
    """Raise KeyboardInterrupt only at the end: what comes again, as with `timeout`, must not interrupt the tidying up.

    Gives the list of the signals that came, and the ends of a pipe into which each writes a byte. Wait for the pipe:
    a handler runs between two instructions only, so who waits for something else misses what came just before.
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
    """Let no signal come between two statements: it comes at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDING))
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
