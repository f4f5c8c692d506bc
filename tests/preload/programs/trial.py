# SPDX-License-Identifier: Apache-2.0
"""Run one program once under one lock: start it with ``fairlock run``, verify the lock, and always end the program."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import processes

from fairlock.run import preload
from fairlock_lab.benchmarks.process import SampleError, end
from fairlock_lab.benchmarks.process import run as run_to_end
from fairlock_lab.benchmarks.programs import maps_of

FAIRLOCK = str(Path(sys.executable).with_name("fairlock"))
LIMIT = 120.0  # seconds for a program that runs to its end: many times as long as usual
START_LIMIT = 30.0  # seconds in which a server must start, and in which it must end


class FailedError(Exception):
    """The program did not do what it does with its own locks. The text says what happened."""


@dataclass(frozen=True)
class Program:
    """A program to try. ``run`` starts it, checks its work, and returns the figure that it prints."""

    name: str
    package: str  # Debian's name
    needs: tuple[str, ...]  # programs in PATH
    version: Callable[[], str]
    run: Callable[[Trial], str]
    unusable: Callable[[], str] = lambda: ""  # why it cannot run here although the programs are installed
    quick: bool = False  # `make test` runs it

    def missing(self) -> str:
        """Return why the program cannot run here, or an empty string."""
        absent = [word for word in self.needs if not shutil.which(word)]
        return f"there is no {absent[0]}: apt-get install {self.package}" if absent else self.unusable()


@dataclass(frozen=True)
class Result:
    """The outcome of a trial."""

    seconds: float
    figure: str = ""
    failure: str = ""

    def __str__(self) -> str:
        return f"failed: {self.failure}" if self.failure else f"ok: {self.figure}"


def attempt(program: Program, lock: str, waiting: str = preload.DEFAULT_WAITING, thorough: bool = False) -> Result:
    """Try a program in a folder of its own. The users that servers switch to can enter this folder."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fairlock-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        try:
            figure = program.run(Trial(lock, waiting, Path(folder), thorough))
        except (FailedError, SampleError, OSError, processes.HungError) as error:
            return Result(time.monotonic() - begin, failure=str(error))
    return Result(time.monotonic() - begin, figure)


@dataclass(frozen=True)
class Trial:
    """The lock, and a folder for the files of the program."""

    lock: str
    waiting: str
    folder: Path
    thorough: bool

    def times(self, number: int) -> int:
        """Return how much work to do: a quarter of it in `make test`."""
        return number if self.thorough else max(1, number // 4)

    def run(self, *words: object, limit: float = LIMIT, complaint: str = "", **environment: str) -> str:
        """Run a program to its end under the lock; return its output. ``complaint`` matches why it failed."""
        watch = LockWatch(self)
        with contextlib.ExitStack() as stack:

            def look(pid: int) -> None:
                stack.enter_context(processes.watched(pid, limit))
                watch.wait(pid)

            # The watch kills the program first, and reports what the program was doing.
            ended = run_to_end(self.command(words), limit + 10, env={**os.environ, **environment}, observer=look)
        if ended.status != 0:
            complaints = re.findall(complaint, ended.output + ended.errors, re.MULTILINE) if complaint else []
            why = "; ".join(complaints) or last_line(ended.errors or ended.output)
            raise FailedError(f"{failure(words, ended.status)}: {why}")
        watch.confirm(words)
        return ended.output

    def help_with(self, *words: object) -> str:
        """Run an auxiliary program to its end, with its own locks, and return what it printed."""
        ended = run_to_end([str(word) for word in words], LIMIT)
        if ended.status != 0:
            raise FailedError(f"{failure(words, ended.status)}: {last_line(ended.errors)}")
        return ended.output

    @contextlib.contextmanager
    def server(self, *words: object, ready: Callable[[], bool]) -> Iterator[int]:
        """Run a server under the lock for the duration of the block. The server must end on request."""
        log = self.folder / "log"
        with log.open("wb") as output:
            process = processes.Process(
                self.command(words), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

        def ended() -> bool:
            return process.poll() is not None

        def answers() -> bool:
            with contextlib.suppress(FailedError, OSError):
                return ready()
            return False

        def failed() -> FailedError:
            return FailedError(f"{failure(words, process.returncode)}: {last_line(log.read_text(errors='replace'))}")

        try:
            wait_for(lambda: ended() or answers(), f"no answer from {words[0]}", process.pid)
            if ended():
                raise failed()
            watch = LockWatch(self)
            watch.wait(process.pid)
            watch.confirm(words)
            yield process.pid
            if ended():
                raise failed()
            process.terminate()
            wait_for(ended, f"{words[0]} did not end after SIGTERM", process.pid)
            if process.returncode not in (0, -signal.SIGTERM):
                raise failed()
        finally:
            end(process.pid)
            process.wait()

    def command(self, words: Sequence[object]) -> list[str]:
        return [FAIRLOCK, "run", "--lock", self.lock, "--waiting", self.waiting, "--", *map(str, words)]


class LockWatch:
    """Checks that a process has the lock of its trial. It has the lock once `fairlock` has become the program."""

    def __init__(self, trial: Trial) -> None:
        self._file = None if trial.lock == preload.GLIBC else preload.library(trial.lock, trial.waiting).resolve()
        self._mapped = self._file is None

    def wait(self, pid: int) -> None:
        """Look until the lock is mapped, or the process, a child, has ended. During `exec`, no file is mapped."""
        end_time = time.monotonic() + START_LIMIT
        while not self._mapped and time.monotonic() < end_time:
            self._mapped = str(self._file) in maps_of(pid)
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                return
            time.sleep(0.001)

    def confirm(self, words: Sequence[object]) -> None:
        if not self._mapped:
            raise FailedError(f"{words[0]} was never seen with {self._file} in memory")


def wait_for(done: Callable[[], bool], complaint: str, pid: int) -> None:
    """Wait until `done` returns true. If that takes too long, fail with the complaint and what the process is doing."""
    end_time = time.monotonic() + START_LIMIT
    while not done():
        if time.monotonic() > end_time:
            doing = "\n".join(map(processes.describe, processes.tree(pid)))
            raise FailedError(f"{complaint} within {START_LIMIT:.0f} s:\n{doing}")
        time.sleep(0.02)


def number(pattern: str, output: str) -> float:
    """Return the number in a program's output that the pattern's group matches."""
    match = re.search(pattern, output, re.MULTILINE)
    if match is None:
        raise FailedError(f"the output has no match for {pattern!r}; its last line: {last_line(output)}")
    return float(match[1])


def demand(actual: object, wanted: object, what: str) -> None:
    if actual != wanted:
        raise FailedError(f"{what}: {actual!r:.200}, not {wanted!r:.200}")


def failure(words: Sequence[object], status: int) -> str:
    how = f"status {status}" if status >= 0 else signal.Signals(-status).name
    return f"{Path(str(words[0])).name} ended with {how}"


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


def version_of(*words: str) -> str:
    """Return the version that a program prints."""
    printed = processes.run(words, timeout=START_LIMIT).stdout
    match = re.search(r"\d+(\.\d+)+", printed)
    return match[0] if match else "unknown"
