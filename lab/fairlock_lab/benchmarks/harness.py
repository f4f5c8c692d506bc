# SPDX-License-Identifier: Apache-2.0
"""Run a plan: sample by sample, each in a process of its own, each in the file before the next begins."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlock import __version__
from fairlock.usage import UsageError
from fairlock_lab.benchmarks import machine, programs, results
from fairlock_lab.benchmarks.families import family
from fairlock_lab.benchmarks.native import BreachError
from fairlock_lab.benchmarks.plan import belongs_to, seed_of
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.progress import Progress
from fairlock_lab.benchmarks.results import Metrics, Plan, Point, Results, Sample
from fairlock_lab.benchmarks.roster import Roster
from fairlock_lab.benchmarks.workloads import WORKLOADS

A_PROCESS = 0.05  # seconds to start and end one


def begin(plan: Plan, command: Sequence[str], roster: Roster | None) -> Results:
    """Return results without samples; nothing that the plan needs is missing."""
    for point in {(point.family, point.config): point for point in plan.points}.values():
        if remedy := family(point.family).missing(point):
            raise UsageError(remedy)
    subjects = roster.subjects if roster is not None else {}
    lacking = roster.missing if roster is not None else {}
    measured = dict.fromkeys(point.lock for point in plan.points)
    return Results(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        fairlock=__version__,
        command=list(command),
        machine=machine.facts(roster.compiler if roster is not None else None),
        plan=plan,
        missing={key: why for key, why in lacking.items() if concerns(key, plan)} | programs.missing(plan),
        subjects=[subjects[name].as_json() for name in measured if name in subjects],
    )


def concerns(missing: str, plan: Plan) -> bool:
    """Return whether something that this build or machine lacks has to do with a plan."""
    if missing == "monitor":
        return any(point.waiting == missing for point in plan.points)
    if missing in WORKLOADS:
        return any(point.workload == missing for point in plan.points)
    workloads = {point.workload for point in plan.points} & WORKLOADS.keys()
    return any(belongs_to(name, missing) for one in workloads for name in WORKLOADS[one].references)


def run(found: Results, path: Path | None) -> bool:
    """Measure what is left of a plan; return whether it is done, or was interrupted."""
    plan, left = found.plan, found.left()
    start = time.monotonic() - max((sample.at for sample in found.samples), default=0.0)
    cpus = int(found.machine["cpus"])
    try:
        with Progress(len(left), sum(work(plan, i) for i, _ in left)) as progress:
            for i, number in left:
                point, seed = plan.points[i], seed_of(plan.seed, number)
                progress.starts(str(point))
                at = time.monotonic() - start
                metrics = measure(point, plan, seed)
                found.samples.append(Sample(i, number, seed, round(at, 3), point.threads > cpus, metrics))
                found.complete = not found.left()
                if path is not None:
                    keep(found, path)
                progress.ends(work(plan, i))
    except KeyboardInterrupt:
        found.complete = not found.left()
        if path is not None and found.samples:
            keep(found, path)  # it may have come between a sample and its file
        return False
    return True


def work(plan: Plan, point: int) -> float:
    """Return about how many seconds a sample takes."""
    one = plan.points[point]
    windows = 2 if one.options.get("timed-apart") else 1
    return windows * one.seconds + plan.warm_up + A_PROCESS


def measure(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample. That a lock which is there to be caught was caught, is one."""
    workload = WORKLOADS.get(point.workload)
    control = workload is not None and point.lock == workload.control
    try:
        metrics = family(point.family).sample(point, plan, seed)
    except SampleError as error:
        if control and isinstance(error, BreachError):  # not if it hung, or did not start
            return {"caught": True, "message": str(error)}
        raise SampleError(f"{point}: {error}") from error
    return {**metrics, "caught": False} if control else metrics


def keep(found: Results, path: Path) -> None:
    """Write the file, or say in one line why not."""
    try:
        results.save(found, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def same_machine(found: Results, path: Path, here: Mapping[str, Any]) -> None:
    """Refuse to mix samples of two machines in one file."""
    if differences := machine.differences(found.machine, here):
        raise UsageError(f"{path} is from another machine ({'; '.join(differences)}): --anyway goes on all the same")


def kept(found: Results, path: Path | None) -> Path | None:
    """Return where the samples of an interrupted benchmark are. Where no file was named, make one."""
    if path is None and found.samples:
        stamp = found.created.translate({ord(c): None for c in "-:Z"}).replace("T", "-")
        path = Path(f"fairlock-{found.plan.workload}-{stamp}.json")
        keep(found, path)
    return path


def stopped(found: Results, path: Path | None) -> None:
    """Say what is kept, and how to go on."""
    done, planned = len(found.samples), len(found.plan.order)
    if not done:
        print("stopped before the first sample: nothing is kept", file=sys.stderr)
        return
    print(
        f"stopped: {done} of {planned} samples are in {path}; go on with: fairlock bench --resume {path}",
        file=sys.stderr,
    )
