# SPDX-License-Identifier: Apache-2.0
"""Runs of the model checker, on several threads at once. Each thread releases the GIL while it explores."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from fairlock.signals import deferred
from fairlock_lab import _native
from fairlock_lab.checking.plan import Run
from fairlock_lab.checking.results import RunResult
from fairlock_lab.errors import ArgumentError

MAX_STATES = 100_000_000
INTERVAL = 0.2  # seconds between two reports of progress

Engine = Literal["states", "dpor"]


@dataclass(frozen=True)
class CheckProgress:
    """How far a check is. A mutant counts as one task, which may take several runs."""

    done: int  # tasks
    total: int  # tasks
    states: int
    seconds: float
    latest: str  # the task that ended last, or empty


Callback = Callable[[CheckProgress], object]


class CancelledError(Exception):
    """The explorer was cancelled before this run began."""


def native_check(run: Run, max_states: int = MAX_STATES) -> _native.Check:
    """Return the native object that makes a run. Raise ArgumentError if the lock refuses the scenario or its bounds."""
    try:
        return _native.Check(*run.arguments(), max_states)
    except ValueError as error:
        raise ArgumentError(str(error)) from None


@dataclass
class Explorer:
    """Makes runs with one engine, and cancels them."""

    engine: Engine = "states"
    max_states: int = MAX_STATES
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _under_way: set[_native.Check] = field(default_factory=set)
    _cancelled: bool = False

    def explore(self, run: Run) -> RunResult:
        """Make one run. The partial-order reduction counts executions as states."""
        check = native_check(run, self.max_states)
        began = time.monotonic()
        with self._register(check):
            try:
                outcome = check.run() if self.engine == "states" else check.traces(reduce=True)
            except RuntimeError as error:  # the scenario does not fit into the checker's memory
                seconds = time.monotonic() - began
                return RunResult(run, check.states, False, seconds, "incomplete", what=str(error))
        violated = outcome["property"] is not None
        complete = outcome["complete"] or violated
        return RunResult(
            run=run,
            states=outcome["states" if self.engine == "states" else "executions"],
            complete=complete,
            seconds=outcome.get("seconds", time.monotonic() - began),
            verdict="violated" if violated else "holds" if complete else "incomplete",
            property=outcome["property"],
            what=outcome["what"],
            schedule=outcome["schedule"],
        )

    def hunt(self, runs: Sequence[Run]) -> RunResult:
        """Make the runs of one mutant until one of them kills it."""
        states, seconds = 0, 0.0
        for run in runs:
            result = self.explore(run)
            states += result.states
            seconds += result.seconds
            if result.property is not None:
                return replace(result, states=states, seconds=seconds, verdict="killed")
        return replace(result, states=states, seconds=seconds, verdict="survived")

    def cancel(self) -> None:
        """End the runs that are under way, and begin no others."""
        with self._lock:
            self._cancelled = True
            for check in self._under_way:
                check.cancel()

    def states_under_way(self) -> int:
        with self._lock:
            return sum(check.states for check in self._under_way)

    @contextmanager
    def _register(self, check: _native.Check) -> Iterator[None]:
        with self._lock:
            if self._cancelled:
                raise CancelledError
            self._under_way.add(check)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.discard(check)


@dataclass(frozen=True)
class Task:
    """Work for one thread: its label, and the function that does it."""

    label: str
    perform: Callable[[], RunResult]


def perform(
    tasks: Sequence[Task], explorer: Explorer, jobs: int, progress: Callback | None
) -> tuple[list[RunResult], bool]:
    """Perform the tasks on ``jobs`` threads. Return the results so far, and whether Ctrl-C interrupted the rest."""
    began = time.monotonic()
    results: dict[int, RunResult] = {}
    latest = ""

    def report() -> None:
        if progress is not None:
            states = sum(result.states for result in results.values()) + explorer.states_under_way()
            progress(CheckProgress(len(results), len(tasks), states, time.monotonic() - began, latest))

    interrupted = False
    pool = ThreadPoolExecutor(jobs)
    try:
        pending: dict[Future[RunResult], int] = {pool.submit(task.perform): i for i, task in enumerate(tasks)}
        while pending:
            done, _ = wait(pending, timeout=INTERVAL, return_when=FIRST_COMPLETED)
            for future in done:
                number = pending.pop(future)
                results[number] = future.result()
                latest = tasks[number].label
            report()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        try:
            with deferred():  # a second Ctrl-C would leave threads that explore for hours
                explorer.cancel()
                pool.shutdown(cancel_futures=True)
        except KeyboardInterrupt:
            interrupted = True
    return [results[number] for number in sorted(results)], interrupted
