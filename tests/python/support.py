# SPDX-License-Identifier: Apache-2.0
"""What the tests of the types share: what is offered, threads that cannot hang a test, and other interpreters."""

from __future__ import annotations

import contextlib
import pathlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import processes

import fairlock


def offered(make: Callable[[str], object]) -> list[str]:
    """The names that a constructor accepts, as its own error message gives them."""
    try:
        make("no such algorithm")
    except ValueError as error:
        return str(error).partition("choose one of: ")[2].split(", ")
    raise AssertionError("an unknown algorithm was accepted")


LOCKS = offered(lambda name: fairlock.Lock(name))
SEMAPHORES = offered(lambda name: fairlock.Semaphore(1, name))
STRICT_LOCKS = ["ticket", "twa", "hapax", "hapax-vw"]
STRICT_SEMAPHORES = ["ticket-semaphore", "twa-semaphore", "twa-semaphore-futex", "twa-semaphore-chain"]
POLICIES = ["spin-then-park", "park", "yield", "monitor", "spin"]

ENOUGH = 30.0  # seconds after which something hangs
SOON = 0.01  # seconds: enough for threads to get under way, where a test does not depend on it


def eventually(condition: Callable[[], object], what: str = "what was waited for") -> None:
    """Looks until it holds."""
    end = time.monotonic() + ENOUGH
    while not condition():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.0005)


def settle(thread: threading.Thread) -> None:
    """Until the thread, which is counted as waiting, stands in line: a step later, which takes long on a busy machine.

    Then it sleeps, or it looks, which uses up more of the processor's time than the step does. Or its wait is over.
    """
    task = pathlib.Path(f"/proc/self/task/{thread.native_id}")

    def used() -> int:
        return int((task / "schedstat").read_text().split()[0])  # nanoseconds

    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        before = used()
        eventually(
            lambda: (task / "stat").read_text().rpartition(")")[2].split()[0] == "S" or used() > before + 2_000_000
        )


class Crew:
    """Threads. Leaving the ``with`` joins them, and raises what they raised."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.errors: list[BaseException] = []

    def start(self, function: Callable[..., object], *arguments: object) -> threading.Thread:
        def run() -> None:
            try:
                function(*arguments)
            except BaseException as error:
                self.errors.append(error)

        thread = threading.Thread(target=run, daemon=True)
        self.threads.append(thread)
        thread.start()
        return thread

    def join(self) -> None:
        end = time.monotonic() + ENOUGH
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))
        if self.errors:
            raise self.errors[0]
        alive = sum(thread.is_alive() for thread in self.threads)
        assert alive == 0, f"{alive} threads hang"

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.join()


def together(count: int, function: Callable[[int], object]) -> None:
    """Calls it in so many threads at once."""
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait(ENOUGH)
        function(number)

    with Crew() as crew:
        for number in range(count):
            crew.start(run, number)


def outcome(function: Callable[[], object]) -> object:
    """What it returns, or the type of what it raises."""
    try:
        return function()
    except Exception as error:
        return type(error)


def run_python(code: str, *arguments: str, timeout: float = 300, options: Iterable[str] = ()) -> str:
    """Runs it in a Python of its own, which must end well and complain of nothing; gives what it printed.

    The time is for a busy machine: forty algorithms whose threads all spin take a minute beside four others.
    """
    command = [sys.executable, "-X", "faulthandler", *options, "-c", code, *arguments]
    ended = processes.run(command, timeout=timeout, cwd=tempfile.gettempdir())
    assert (ended.returncode, ended.stderr) == (0, ""), f"status {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def bench(*arguments: str, cwd: pathlib.Path) -> processes.Result:
    """Calls the installed `fairlock bench`."""
    program = pathlib.Path(sys.executable).with_name("fairlock")
    return processes.run([program, "bench", *arguments], cwd=cwd, timeout=300)


def free_threaded() -> bool:
    enabled: Any = getattr(sys, "_is_gil_enabled", lambda: True)
    return not enabled()
