# SPDX-License-Identifier: Apache-2.0
"""What the tests of the types share: the algorithms, threads that cannot hang a test, and other Python processes."""

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
    """Return the names that a constructor accepts, as its own error message lists them."""
    try:
        make("no such algorithm")
    except ValueError as error:
        return str(error).partition("choose one of: ")[2].split(", ")
    raise AssertionError("the constructor accepted an unknown algorithm")


LOCKS = offered(lambda name: fairlock.Lock(name))
SEMAPHORES = offered(lambda name: fairlock.Semaphore(1, name))
STRICT_LOCKS = ["ticket", "twa", "hapax", "hapax-vw"]
STRICT_SEMAPHORES = ["ticket-semaphore", "twa-semaphore", "twa-semaphore-futex", "twa-semaphore-chain"]
POLICIES = ["spin-then-park", "park", "yield", "monitor", "spin"]

ENOUGH = 30.0  # seconds: a wait that takes longer hangs
SOON = 0.01  # seconds: usually enough for threads to start. No test relies on it


def eventually(condition: Callable[[], object]) -> None:
    """Wait until the condition holds, or fail."""
    end = time.monotonic() + ENOUGH
    while not condition():
        assert time.monotonic() < end, f"the condition does not hold after {ENOUGH:g} s"
        time.sleep(0.0005)


def settle(thread: threading.Thread) -> None:
    """Wait until a thread that is counted as a waiter is in line, too.

    It enters the line just after it is counted, but a busy machine may delay this. A thread that sleeps is in line. So
    is a thread that spins, once it has used more processor time than it needs to enter. Or its wait is over.
    """
    task = pathlib.Path(f"/proc/self/task/{thread.native_id}")

    def processor_time() -> int:
        return int((task / "schedstat").read_text().split()[0])  # nanoseconds

    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        before = processor_time()
        eventually(
            lambda: (
                (task / "stat").read_text().rpartition(")")[2].split()[0] == "S"
                or processor_time() > before + 2_000_000
            )
        )


class Crew:
    """Threads. At the end of the ``with`` block, it joins them and raises the first exception that a thread raised."""

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
    """Call the function in `count` threads at once, with the number of the thread."""
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait(ENOUGH)
        function(number)

    with Crew() as crew:
        for number in range(count):
            crew.start(run, number)


def outcome(function: Callable[[], object]) -> object:
    """Return the function's result, or the type of the exception that it raises."""
    try:
        return function()
    except Exception as error:
        return type(error)


def run_python(code: str, *arguments: str, timeout: float = 300, options: Iterable[str] = ()) -> str:
    """Run the code in a new Python process. It must succeed and write nothing to stderr. Return its output.

    The default timeout is for a busy machine: a test of forty algorithms whose threads all spin takes a minute there.
    """
    command = [sys.executable, "-X", "faulthandler", *options, "-c", code, *arguments]
    done = processes.run(command, timeout=timeout, cwd=tempfile.gettempdir())
    assert (done.returncode, done.stderr) == (0, ""), f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def bench(*arguments: str, cwd: pathlib.Path) -> processes.Result:
    """Call the installed `fairlock bench` in a folder and return the finished process."""
    program = pathlib.Path(sys.executable).with_name("fairlock")
    return processes.run([program, "bench", *arguments], cwd=cwd, timeout=300)


def free_threaded() -> bool:
    enabled: Any = getattr(sys, "_is_gil_enabled", lambda: True)
    return not enabled()
