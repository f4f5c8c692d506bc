# SPDX-License-Identifier: Apache-2.0
"""Run other processes from tests. If a process does not end in time, the test fails and reports what it was doing.

Every test that waits for another process uses this module: `run` for a whole program, `start` for a program that the
test talks to, and `watched` for a process that the test has forked.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

TIMEOUT = 60.0  # seconds, unless a test gives its own

Result = subprocess.CompletedProcess[str]
Word = str | bytes | Path


class HungError(AssertionError):
    """A process did not end in time. The text says what the process and its descendants were doing."""


class Process(subprocess.Popen[str]):
    """A process that remembers the output that `communicate` returned."""

    output: tuple[str | None, str | None] = (None, None)
    limit: float | None = None  # seconds: an orphan outside the tree may keep a pipe open

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        self.output = super().communicate(input, timeout or self.limit)
        return self.output

    def output_so_far(self) -> str:
        names = ("standard output", "standard error")
        return "\n".join(f"{name} so far: {text!r}" for name, text in zip(names, self.output, strict=True) if text)


def run(
    command: Sequence[Word], timeout: float = TIMEOUT, input: str | None = None, check: bool = False, **settings: Any
) -> Result:
    """Run a program to its end and capture its output as text. `settings` are those of `Popen`."""
    if input is not None:
        settings["stdin"] = subprocess.PIPE
    with start(command, timeout, **settings) as process:
        output, errors = process.communicate(input)
    if check:
        assert process.returncode == 0, f"{command} ended with status {process.returncode}\n{output}\n{errors}"
    return Result(process.args, process.returncode, output, errors)


@contextlib.contextmanager
def start(command: Sequence[Word], timeout: float = TIMEOUT, **settings: Any) -> Iterator[Process]:
    """Start a program, yield its process, and wait for its end. If the test fails meanwhile, kill the program."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = Process(command, **{"text": True, "errors": "replace", **pipes, **settings})
    process.limit = timeout + 10
    with watched(process.pid, timeout, process.output_so_far), process:
        try:
            yield process
        except BaseException:
            if process.poll() is None:
                kill(tree(process.pid))
            raise


@contextlib.contextmanager
def watched(pid: int, timeout: float = TIMEOUT, output: Callable[[], str] = str) -> Iterator[None]:
    """Let the body wait at most `timeout` seconds for a child. Then kill the child and its descendants, and fail.

    The body reaps the child. It needs no time limit of its own: the kill ends its waits and its reads.
    """
    reports: list[str] = []

    def give_up() -> None:
        # If the body has reaped the child, its number may be in use again: then waitid raises, and nothing is killed.
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            members = tree(pid)
            reports.append("\n".join(map(describe, members)))
            kill(members)

    timer = threading.Timer(timeout, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if reports:
            raise HungError(f"no end after {timeout:g} s:\n{reports[0]}\n{output()}".rstrip())


def wait(pid: int, timeout: float = TIMEOUT) -> int:
    """Return the exit status of a child that the test has forked."""
    with watched(pid, timeout):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(processes: Iterable[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


# --- what /proc says ---


def tree(pid: int) -> list[int]:
    """Return a process, its descendants, and all processes of the sessions that any of these leads."""
    members = {pid}
    all_processes = [(int(folder.name), _stat(folder)) for folder in Path("/proc").glob("[0-9]*")]
    before = 0
    while before != len(members):
        before = len(members)
        members |= {pid for pid, (_, parent, session) in all_processes if parent in members or session in members}
    return sorted(members)


def describe(pid: int) -> str:
    """Return what a process is doing, as /proc shows it."""
    folder = Path(f"/proc/{pid}")
    command = shlex.join(_read(folder / "cmdline").rstrip("\0").split("\0"))
    lines = [f"process {pid}, child of {_stat(folder)[1]}: {command}"]
    for task in _entries(folder / "task"):
        status = dict(line.split(":\t", 1) for line in _read(task / "status").splitlines() if ":\t" in line)
        masks = {meaning: int(status.get(key, "0"), 16) for key, meaning in MASKS.items()}
        signals = ", ".join(f"{meaning} {_signals(mask)}" for meaning, mask in masks.items() if mask)
        where = f"in {_read(task / 'wchan') or '?'}, system call {_read(task / 'syscall') or '?'}"
        lines.append(f"  thread {task.name}: state {_stat(task)[0]}, {where}; signals: {signals or 'none'}")
    targets = [(file.name, _target(file)) for file in _entries(folder / "fd")]
    files = [f"{number} {target}" for number, target in targets if target.startswith(("pipe:", "/dev/pts", "/dev/tty"))]
    return "\n".join([*lines, f"  pipes and terminals: {', '.join(files) or 'none'}"])


MASKS = {
    "SigPnd": "pending for the thread",
    "ShdPnd": "pending",
    "SigBlk": "blocked",
    "SigIgn": "ignored",
    "SigCgt": "caught",
}


def _signals(mask: int) -> str:
    numbers = [number for number in range(1, signal.NSIG) if mask >> (number - 1) & 1]
    known = {int(number): number.name for number in signal.Signals}
    return " ".join(known.get(number, str(number)) for number in numbers)


def _stat(folder: Path) -> tuple[str, int, int]:
    """Return the state, the parent and the session. The command name before them may contain any character."""
    fields = _read(folder / "stat").rpartition(")")[2].split()
    return (fields[0], int(fields[1]), int(fields[3])) if fields else ("gone", 0, -1)


def _read(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text(errors="replace").strip()
    return ""


def _entries(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(folder.iterdir(), key=lambda entry: int(entry.name))
    return []


def _target(link: Path) -> str:
    with contextlib.suppress(OSError):
        return str(link.readlink())
    return ""
