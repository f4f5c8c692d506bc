# SPDX-License-Identifier: Apache-2.0
"""The functions of the model checker, for Python and for the commands."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from fairlock_lab import _native
from fairlock_lab.checking.explore import MAX_STATES, Callback, Engine, Explorer, Task, native_check, perform
from fairlock_lab.checking.plan import Run, fits_dpor, plan
from fairlock_lab.checking.results import (
    CheckResults,
    LitmusResult,
    LitmusResults,
    MutantResults,
    Replay,
    replay_run,
)
from fairlock_lab.checking.subjects import (
    MEMORIES,
    SCENARIOS,
    SEQLOCK,
    Memory,
    find_mutant,
    find_mutants,
    find_subjects,
    mutants,
    subjects,
)
from fairlock_lab.errors import ArgumentError, check_callback, check_number, choice

MOST_STATES = 2**63 - 1
MOST_JOBS = 1000
CHOICES: dict[str, Iterable[object]] = {
    "threads": range(1, 5),
    "episodes": range(1, 9),
    "slots": (1, 2, 4),
    "memory": MEMORIES,
    "scenario": SCENARIOS,
    "engine": get_args(Engine),
}


class CheckInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a check. ``results`` holds those of the ``planned`` runs or mutants that were complete by then."""

    def __init__(self, results: CheckResults | MutantResults, planned: int) -> None:
        super().__init__(f"{len(results)} of {planned} are complete")
        self.results = results
        self.planned = planned

    def __reduce__(self) -> tuple[Any, ...]:  # so that it can be copied, and sent to another process
        return type(self), (self.results, self.planned)


def check(
    *names: str,
    mutant: str | None = None,
    scenario: str | None = None,
    threads: int | None = None,
    episodes: int | None = None,
    slots: int | None = None,
    memory: Memory | None = None,
    deep: bool = False,
    engine: Engine = "states",
    max_states: int = MAX_STATES,
    jobs: int | None = None,
    progress: Callback | None = None,
) -> CheckResults:
    """Explore every schedule of the named locks, semaphores and conditions, or else of all of them.

    Without bounds, explore many scenarios with the usual bounds, or with larger ones if ``deep``. With at least one of
    ``scenario``, ``threads``, ``episodes``, ``slots`` and ``memory``, make one run for each name. ``mutant`` names a
    planted bug to explore instead of a lock.

    The engine "dpor" is partial-order reduction, which counts executions as states. A run that reaches ``max_states``
    is incomplete. ``jobs`` threads, by default one for each processor, explore without the GIL.

    The calling thread calls ``progress`` with a CheckProgress about five times a second. Ctrl-C raises
    CheckInterrupted, a KeyboardInterrupt that holds the results so far. Wrong arguments raise ArgumentError, a
    ValueError.
    """
    given = given_bounds(scenario=scenario, threads=threads, episodes=episodes, slots=slots, memory=memory)
    jobs = checked_limits(max_states, jobs)
    choice("engine", engine, CHOICES["engine"])
    check_callback(progress)
    if engine == "dpor" and memory == "weak":
        raise ArgumentError("engine='dpor' explores memory='sc' only")
    if deep and (given or mutant is not None):
        raise ArgumentError("deep=True chooses the bounds: combine it with names only")
    if names and mutant is not None:
        raise ArgumentError(f"mutant={mutant!r} takes no names of locks: remove {' '.join(map(str, names))}")
    find_subjects(*names)
    if mutant is not None:
        runs = [make_run(None, mutant, given)]
    elif given:
        runs = [make_run(name, None, given) for name in names or names_with_rounds()]
    else:
        runs = plan(find_subjects(*(names or subjects())), deep=deep)
        if engine == "dpor":
            runs = [run for run in runs if fits_dpor(run)]
    for run in runs:  # before any run begins, report a run that a lock refuses
        native_check(run)
    explorer = Explorer(engine, max_states)
    tasks = [Task(str(run), partial(explorer.explore, run)) for run in runs]
    began = time.monotonic()
    results, interrupted = perform(tasks, explorer, jobs, progress)
    check_results = CheckResults(tuple(results), time.monotonic() - began, jobs)
    if interrupted:
        raise CheckInterrupted(check_results, len(tasks))
    return check_results


def check_mutants(
    *names: str,
    max_states: int = MAX_STATES,
    jobs: int | None = None,
    progress: Callback | None = None,
) -> MutantResults:
    """Explore mutants until the checker finds the planted bug of each.

    A name selects one mutant, or all mutants of a lock. Without names, explore all mutants. The other arguments and the
    exceptions are those of ``check``.
    """
    jobs = checked_limits(max_states, jobs)
    check_callback(progress)
    chosen = find_mutants(*names) if names else mutants()
    explorer = Explorer(max_states=max_states)
    tasks = []
    for mutant in chosen:
        runs = [replace(run, mutant=mutant.name) for run in plan(find_subjects(mutant.lock))]
        # The cheap and telling runs come first: few threads and episodes, and plain rounds before the other scenarios.
        runs.sort(key=lambda run: (run.threads * run.episodes, run.memory, run.slots, SCENARIOS.index(run.scenario)))
        tasks.append(Task(mutant.name, partial(explorer.hunt, runs)))
    began = time.monotonic()
    results, interrupted = perform(tasks, explorer, jobs, progress)
    mutant_results = MutantResults(tuple(results), time.monotonic() - began, jobs)
    if interrupted:
        raise CheckInterrupted(mutant_results, len(tasks))
    return mutant_results


def litmus() -> LitmusResults:
    """Compare both memory models with textbook litmus tests."""
    return LitmusResults(tuple(LitmusResult(**row) for row in _native.litmus()))


def replay(
    name: str | None = None,
    *,
    schedule: str,
    mutant: str | None = None,
    scenario: str | None = None,
    threads: int | None = None,
    episodes: int | None = None,
    slots: int | None = None,
    memory: Memory | None = None,
) -> Replay:
    """Replay a schedule of one lock or one mutant, step by step, with the bounds with which it was recorded.

    A schedule is a letter from A to D for the thread of each step, with a number where the step has several outcomes:
    "AAB1C". ``RunResult.replay()`` replays the schedule of a violation.
    """
    given = given_bounds(scenario=scenario, threads=threads, episodes=episodes, slots=slots, memory=memory)
    if (name is None) == (mutant is None):
        raise ArgumentError("to replay a schedule, name one lock or one mutant")
    if not isinstance(schedule, str) or not re.fullmatch(r"([A-D][0-9]*)+", schedule):
        raise ArgumentError(f"schedule={schedule!r}: a schedule is letters A to D, each with an optional number: AAB1C")
    return replay_run(make_run(name, mutant, given), schedule)


def make_run(name: str | None, mutant: str | None, given: dict[str, Any]) -> Run:
    """Return the run of a lock or a mutant with the given bounds, and the defaults for the other bounds."""
    if mutant is not None:
        name = find_mutant(mutant).lock
    assert name is not None
    find_subjects(name)
    if name == SEQLOCK:
        given = {"scenario": "record", "threads": 3, "episodes": 1} | given
    return Run(name, mutant=mutant or "", **given)


def names_with_rounds() -> list[str]:
    """Return the names of the subjects that have the scenario `rounds`, without variations."""
    return [name for name, subject in subjects().items() if not subject.variation and "rounds" in subject.scenarios]


def given_bounds(**bounds: object) -> dict[str, Any]:
    """Return the bounds that are not None. Raise ChoiceError if one of them is not a valid choice."""
    return {
        argument: choice(argument, value, CHOICES[argument]) for argument, value in bounds.items() if value is not None
    }


def checked_limits(max_states: int, jobs: int | None) -> int:
    """Return the number of threads to explore on. Raise ArgumentError if a limit is out of range."""
    check_number("max_states", max_states, 1, MOST_STATES)
    if jobs is None:
        return os.cpu_count() or 1
    check_number("jobs", jobs, 1, MOST_JOBS)
    return jobs
