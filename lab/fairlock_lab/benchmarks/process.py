# SPDX-License-Identifier: Apache-2.0
"""Run a program to its end: its output, its duration, and the resources that it used."""

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
FIRST_OBSERVATION = 0.0002  # seconds after the start of a program


class SampleError(Exception):
    """A sample could not be taken: the lock failed to exclude, or the program failed."""


@dataclass(frozen=True)
class EndedProcess:
    status: int  # negative: the signal that killed it
    output: str
    errors: str
    seconds: float  # from start to end
    usage: resource.struct_rusage  # of the program, and of the children that it waited for


def run(
    command: Sequence[str],
    limit: float,
    *,
    env: Mapping[str, str] | None = None,
    observer: Callable[[int], None] | None = None,  # called with the process id while the program runs
    discard: bool = False,  # do not keep its output
) -> EndedProcess:
    """Run a program to its end. Kill it and all that it started after ``limit`` seconds, or when interrupted."""
    # Files, not pipes: a process that the program leaves behind could keep a pipe open forever.
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        deferred() as (interrupts, news, tell),
    ):
        begin = time.monotonic()
        # In a new session, Ctrl-C reaches only us, and we can kill the program with all its children, hogs too.
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
            # WNOWAIT leaves the process unreaped, so that no other process can get its id before we kill it below.
            with suppress(ChildProcessError):  # if SIGCHLD is ignored, wait4() below reports it
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            ended.append(time.monotonic())
            with suppress(BlockingIOError):  # the pipe is full: the reader will wake anyway
                os.write(tell, b"\0")

        waiter = threading.Thread(target=await_end, daemon=True)
        late = False
        try:
            waiter.start()
            late = watch(process.pid, begin + limit, observer, news, lambda: bool(ended or interrupts))
        except RuntimeError as error:  # no memory for a thread
            raise SampleError(f"{error}: {' '.join(command)}") from error
        finally:
            end(process.pid)  # even if it has ended: a process that it left behind would disturb the next sample
            if waiter.ident is not None:
                waiter.join()
            _, status, usage = os.wait4(process.pid, 0)  # unlike getrusage(), wait4() counts this child alone
            process.returncode = os.waitstatus_to_exitcode(status)
        if late:
            raise SampleError(f"no end after {limit:g} s: {' '.join(command)}")
        return EndedProcess(process.returncode, text_of(output), text_of(errors), ended[0] - begin, usage)


def watch(pid: int, until: float, observer: Callable[[int], None] | None, news: int, over: Callable[[], bool]) -> bool:
    """Call ``observer`` at growing intervals until ``over``. Return True if the time expires first.

    A byte in ``news`` announces that ``over`` may have changed.
    """
    pause = FIRST_OBSERVATION if observer else math.inf
    while not over():
        left = until - time.monotonic()
        if left <= 0:
            return True
        if select.select([news], [], [], min(pause, left))[0]:
            os.read(news, 4096)
        elif observer:
            observer(pid)
            pause *= 2
    return False


def text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def end(session: int) -> None:
    """Kill all processes of a session, even those in other process groups (`timeout` makes one)."""
    with suppress(ProcessLookupError, PermissionError):  # it has ended, or belongs to another user by now
        os.killpg(session, signal.SIGKILL)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, words = int(stat.parent.name), stat.read_text(errors="replace").rpartition(")")[2].split()
            if int(words[3]) == session and pid != session:
                os.kill(pid, signal.SIGKILL)


def call(command: Sequence[str], limit: float, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run a program to its end, and return its status, output and errors."""
    ended = run(command, limit, env=env)
    return ended.status, ended.output, ended.errors
