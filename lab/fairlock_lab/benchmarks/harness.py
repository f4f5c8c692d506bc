# SPDX-License-Identifier: Apache-2.0
"""Carry out a plan: each sample has its own process, and is written to the file before the next one begins."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairlock import __version__
from fairlock.signals import deferred
from fairlock.usage import UsageError
from fairlock_lab.benchmarks import machine, programs
from fairlock_lab.benchmarks.families import family
from fairlock_lab.benchmarks.native import BreachError
from fairlock_lab.benchmarks.plan import belongs_to, seed_of
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.progress import BenchProgress, Callback
from fairlock_lab.benchmarks.results import BenchResults, Metrics, Plan, Point, Sample, save
from fairlock_lab.benchmarks.roster import Roster
from fairlock_lab.benchmarks.workloads import WORKLOADS

PROCESS_SECONDS = 0.05  # to start and end a process


class FailedRunError(SampleError):
    """A sample failed. ``results`` holds the samples that were taken before it."""

    def __init__(self, message: str, results: BenchResults) -> None:
        super().__init__(message)
        self.results = results

    def __reduce__(self) -> tuple[Any, ...]:  # so that it can be copied, and sent to another process
        return type(self), (str(self), self.results)


class BenchInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a benchmark. ``results`` holds the samples that were taken by then."""

    def __init__(self, results: BenchResults) -> None:
        super().__init__(f"{len(results.samples)} of {len(results.plan.order)} samples are taken")
        self.results = results

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.results,)


def begin(plan: Plan, command: Sequence[str], roster: Roster | None) -> BenchResults:
    """Return results without samples. Raise UsageError if this machine lacks something that the plan needs."""
    for point in {(point.family, point.config): point for point in plan.points}.values():
        if remedy := family(point.family).missing(point):
            raise UsageError(remedy)
    subjects = roster.subjects if roster is not None else {}
    lacking = roster.missing if roster is not None else {}
    measured = dict.fromkeys(point.lock for point in plan.points)
    return BenchResults(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        fairlock=__version__,
        command=list(command),
        machine=machine.facts(roster.compiler if roster is not None else None),
        plan=plan,
        missing={key: why for key, why in lacking.items() if concerns(key, plan)} | programs.missing(plan),
        subjects=[subjects[name].as_json() for name in measured if name in subjects],
    )


def concerns(missing: str, plan: Plan) -> bool:
    """Return whether a plan would use something that this build or machine lacks."""
    if missing == "monitor":
        return any(point.waiting == missing for point in plan.points)
    if missing in WORKLOADS:
        return any(point.workload == missing for point in plan.points)
    workloads = {point.workload for point in plan.points} & WORKLOADS.keys()
    return any(belongs_to(lock, missing) for name in workloads for lock in WORKLOADS[name].references)


def run(results: BenchResults, file: Path | None = None, progress: Callback | None = None) -> BenchResults:
    """Take the remaining samples of a plan, and return all samples.

    Ctrl-C raises BenchInterrupted, and a sample that fails raises FailedRunError. Both have the samples so far. With a
    ``file``, each sample is written before the next one begins.
    """
    plan, remaining = results.plan, results.remaining
    start = time.monotonic() - max((sample.at for sample in results.samples), default=0.0)
    cpus = int(results.machine["cpus"])
    report = BenchProgress.start(plan.workload, len(remaining), sum(seconds_of(plan, i) for i, _ in remaining))
    try:
        for i, number in remaining:
            point, seed = plan.points[i], seed_of(plan.seed, number)
            if progress is not None:
                progress(report.at(str(point)))
            at = time.monotonic() - start
            try:
                metrics = measure(point, plan, seed)
            except SampleError as error:
                raise FailedRunError(str(error), results) from error
            sample = Sample(i, number, seed, round(at, 3), point.threads > cpus, metrics)
            results = replace(results, samples=(*results.samples, sample))
            if file is not None:
                save(results, file)
            report = report.after(seconds_of(plan, i))
        if progress is not None and remaining:
            progress(report.at(None))
    except KeyboardInterrupt:
        with suppress(KeyboardInterrupt), deferred():
            if file is not None and results.samples:
                save(results, file)  # the signal may have come between a sample and its file
        raise BenchInterrupted(results) from None
    return results


def seconds_of(plan: Plan, point: int) -> float:
    """Return about how many seconds a sample takes."""
    chosen = plan.points[point]
    windows = 2 if chosen.options.get("timed-apart") else 1
    return windows * chosen.seconds + plan.warm_up + PROCESS_SECONDS


def measure(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample. For the negative control, a breach of exclusion is a result."""
    workload = WORKLOADS.get(point.workload)
    control = workload is not None and point.lock == workload.control
    try:
        metrics = family(point.family).sample(point, plan, seed)
    except SampleError as error:
        if control and isinstance(error, BreachError):  # a control that hangs or does not start is still an error
            return {"caught": True, "message": str(error)}
        raise SampleError(f"{point}: {error}") from error
    return {**metrics, "caught": False} if control else metrics


def check_same_machine(results: BenchResults, path: Path, here: Mapping[str, Any]) -> None:
    """Raise UsageError if the samples of ``path`` come from another machine: one file never mixes two machines."""
    if differences := machine.differences(results.machine, here):
        raise UsageError(f"{path} is from another machine ({'; '.join(differences)}); --anyway continues it here")
