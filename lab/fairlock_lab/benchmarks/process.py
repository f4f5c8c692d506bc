# SPDX-License-Identifier: Apache-2.0
"""A program that is run to its end: what it printed, how long it took, and what it used."""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fairlock.signals import deferred

GRACE = 30.0  # seconds that a sample may take beyond its window before it counts as hanging
FIRST_LOOK = 0.0002  # seconds after a program's start


class SampleError(Exception):
    """A sample that could not be taken: exclusion was broken, or the program failed."""


@dataclass(frozen=True)
class Ended:
    status: int  # negative: the signal that ended it
    output: str
    errors: str
    seconds: float  # from start to end
    usage: resource.struct_rusage  # its own, and of those for which it waited


def run(
    command: Sequence[str],
    limit: float,
    *,
    env: Mapping[str, str] | None = None,
    look: Callable[[int], None] | None = None,  # at the process, while it runs
    discard: bool = False,  # what it prints
) -> Ended:
    """Run a program to its end, or end it when the time is up or we are interrupted; what it started ends with it."""
    # Files, and not pipes: whoever it leaves behind may keep these open for ever.
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        deferred() as (interrupts, news, tell),
    ):
        begin = time.monotonic()
        # A session of its own: Ctrl-C reaches us alone, and we end all of it, hogs too.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if discard else output,
            stderr=errors,
            start_new_session=True,
            env=env,
        )
        ended: list[float] = []

        def await_end() -> None:
            # Not yet asked for its status, it keeps its number: nobody else is ended below.
            with suppress(ChildProcessError):  # where nobody is to ask, wait4() says so
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            ended.append(time.monotonic())
            with suppress(BlockingIOError):  # full of other news
                os.write(tell, b"\0")

        waiter = threading.Thread(target=await_end, daemon=True)
        late = False
        try:
            waiter.start()
            late = watch(process.pid, begin + limit, look, news, lambda: bool(ended or interrupts))
        except RuntimeError as error:  # no memory for a thread
            raise SampleError(f"{error}: {' '.join(command)}") from error
        finally:
            end(process.pid)  # or what it has left behind, which would disturb the next sample
            if waiter.ident is not None:
                waiter.join()
            _, status, usage = os.wait4(process.pid, 0)  # which tells of this child alone
            process.returncode = os.waitstatus_to_exitcode(status)
        if late:
            raise SampleError(f"no end after {limit:g} s: {' '.join(command)}")
        return Ended(process.returncode, text_of(output), text_of(errors), ended[0] - begin, usage)


def watch(pid: int, until: float, look: Callable[[int], None] | None, news: int, over: Callable[[], bool]) -> bool:
    """Look at a process ever more seldom until it is over, as news may tell; return whether the time was up before."""
    pause = FIRST_LOOK if look else math.inf
    while not over():
        left = until - time.monotonic()
        if left <= 0:
            return True
        if select.select([news], [], [], min(pause, left))[0]:
            os.read(news, 4096)
        elif look:
            look(pid)
            pause *= 2
    return False


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def end(session: int) -> None:
    """End all processes of a session, whatever groups they have made (as `timeout` does)."""
    with suppress(ProcessLookupError, PermissionError):  # it has ended in the meantime, or become somebody else's
        os.killpg(session, signal.SIGKILL)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, words = int(stat.parent.name), stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(words[3]) == session and pid != session:
                os.kill(pid, signal.SIGKILL)


def call(command: Sequence[str], limit: float, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run a program to its end; return its status, and what it printed."""
    ended = run(command, limit, env=env)
    return ended.status, ended.output, ended.errors
