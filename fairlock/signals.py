"""Signals that would end us: until we have tidied up, they only end what we have started."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

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
def deferred(react: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Call ``react`` for what would raise KeyboardInterrupt, and raise that only at the end; gives whether it came.

    Ctrl-C again, and what `timeout` sends to us and to our group, would else interrupt the tidying up.
    """
    came: list[int] = []

    def handler(number: int, frame: object) -> None:
        came.append(number)
        react()

    before = {}
    if ours():
        numbers = [one for one in (signal.SIGINT, *ENDING) if signal.getsignal(one) is signal.default_int_handler]
        before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield lambda: bool(came)
    finally:
        for number, was in before.items():
            signal.signal(number, was)
    if came:
        raise KeyboardInterrupt
