# SPDX-License-Identifier: Apache-2.0
"""The program ``fairlock_bench``: its path, what it can measure, and how it takes a sample."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlock.usage import UsageError
from fairlock_lab.benchmarks import programs
from fairlock_lab.benchmarks.process import GRACE, SampleError, call
from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point
from fairlock_lab.benchmarks.roster import Roster
from fairlock_lab.errors import ArgumentError
from fairlock_lab.paths import bench_program

BROKEN, BAD_INPUT = 1, 2  # exit statuses of the program
BREACH = "two threads were inside at once"  # the program's message about a lock that does not exclude
# These families have no choice of lock, or choose it by preloading.
WITHOUT_A_LOCK = {"overhead", "invalidation-diameter", *programs.FAMILIES}


class BreachError(SampleError):
    """Two threads were inside at once."""


@functools.cache
def roster() -> Roster:
    """Return what the program can measure, or raise UsageError if it does not run."""
    status, output, errors = call([str(program()), "list"], GRACE)
    if status != 0:
        raise UsageError(f"fairlock_bench does not start ({errors.strip() or status}); build again: make build")
    return Roster.of(json.loads(output))


def policies() -> tuple[str, ...]:
    """Return the waiting policies; none if the program does not run."""
    try:
        return roster().policies
    except UsageError:
        return ()


def program() -> Path:
    try:
        return bench_program()
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error


def missing(point: Point) -> str:
    """Return nothing: a plan never has points that the roster lacks."""
    return ""


def arguments(point: Point, plan: Plan, seed: int) -> list[str]:
    """Return the command line of a sample."""
    has_lock = point.family not in WITHOUT_A_LOCK
    given: dict[str, Option | None] = {
        "lock": point.lock if has_lock else None,
        "waiting": point.waiting if has_lock else None,
        "form": point.form,
        "threads": point.threads,
        "seconds": point.seconds,
        "warm-up": plan.warm_up,
        "seed": seed,
        "pin": plan.pin,
        "hogs": point.hogs or None,
        **point.options,
    }
    return [point.family, *options(given)]


def options(given: Mapping[str, Option | None]) -> list[str]:
    words = []
    for name, value in given.items():
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False:
            words += [f"--{name}", str(value)]
    return words


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample, in a new process."""
    limit = plan.warm_up + 2 * point.seconds + GRACE  # with --timed-apart there are two windows
    metrics = run(point, arguments(point, plan, seed), limit, programs.environment(point))
    if point.family in programs.FAMILIES and metrics.get("preloaded") != programs.preloaded(point):
        raise SampleError(f"{programs.NOT_LOADED}: the program reports {metrics.get('preloaded')}")
    return metrics


def run(point: Point, words: Sequence[str], limit: float, environment: Mapping[str, str] = os.environ) -> Metrics:
    """Run the program, and return the metrics that it prints."""
    status, output, errors = call([str(program()), *words], limit, env=environment)
    line = errors.strip().removeprefix("fairlock_bench: ")
    if status == BAD_INPUT:
        raise ArgumentError(f"{point}: {line}")
    if status != 0:
        kind = BreachError if status == BROKEN and BREACH in line else SampleError
        raise kind(f"{line or f'ended with status {status}'} (fairlock_bench {' '.join(words)})")
    metrics: Metrics = json.loads(output)
    return metrics
