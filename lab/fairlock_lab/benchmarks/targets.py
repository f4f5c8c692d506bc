# SPDX-License-Identifier: Apache-2.0
"""What the locks are to reach, and whether they do. Timings are no tests: a missed target is printed as missed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from fairlock_lab.benchmarks.figures import Figure, Table, figure
from fairlock_lab.benchmarks.results import Results
from fairlock_lab.benchmarks.workloads import FIFO_LOCKS, SEMAPHORES

CROWD, SMALL_CROWD, HOGS = 32, 8, 2

# uncontended: lock -> (reference, at most this many times as long)
UNCONTENDED = {
    "ticket": ("ck-ticket", 1.1),
    "mcs": ("ck-mcs", 1.1),
    "anderson": ("ck-anderson", 1.1),
    "clh": ("ck-clh", 1.5),
    "twa": ("pthread-mutex", 1.1),
    "hapax": ("pthread-mutex", 1.0),
    "hapax-vw": ("pthread-mutex", 1.0),
    **dict.fromkeys(SEMAPHORES, ("sem_t", 0.75)),
}
OVERHEAD = 2.0  # nanoseconds that the harness's loop may take more than one written by hand


@dataclass(frozen=True)
class Place:
    workload: str
    config: str
    threads: int
    hogs: int = 0

    def __str__(self) -> str:
        plural = "" if self.threads == 1 else "s"
        beside = f", {self.hogs} hogs" if self.hogs else ""
        return f"{self.workload}, {self.threads} thread{plural}{beside}"

    def find(self, samples: Table, lock: str) -> int | None:
        found = samples.find(
            workload=self.workload, config=self.config, threads=self.threads, hogs=self.hogs, lock=lock
        )
        return found[0] if found else None


ALONE = Place("uncontended", "uncontended", 1)
TWO = Place("mutex", "maximum", 2)
TWO_ON_SEMAPHORES = Place("semaphore", "semabench", 2)
IDLE = Place("oversubscribed", "oversubscribed", CROWD)
BESIDE_HOGS = Place("oversubscribed", "oversubscribed", CROWD, HOGS)
FEW = Place("oversubscribed", "oversubscribed", SMALL_CROWD)


@dataclass(frozen=True)
class Goal:
    lock: str
    place: Place
    measure: str
    reference: str | None = None  # None: the figure itself
    least: float | None = None
    most: float | None = None

    @property
    def bound(self) -> float:
        bound = self.least if self.least is not None else self.most
        assert bound is not None
        return bound

    @property
    def what(self) -> str:
        words = {"fairness": "slowest/fastest", "longest_wait": "the longest wait"}.get(self.measure, "")
        if self.reference is None:
            return words
        return f"x {words} of {self.reference}" if words else f"x {self.reference}"


def goals() -> Iterator[Goal]:
    """Yield everything that the project wants to reach."""
    for lock, (reference, most) in UNCONTENDED.items():
        yield Goal(lock, ALONE, "ns", reference, most=most)
    for lock in FIFO_LOCKS:
        yield Goal(lock, TWO, "throughput", "ck-ticket", least=1.0)
    for semaphore in SEMAPHORES:
        yield Goal(semaphore, TWO_ON_SEMAPHORES, "throughput", "sem_t", least=1.0)
    strict = (*FIFO_LOCKS, *(semaphore for semaphore in SEMAPHORES if semaphore != "fair-semaphore"))
    for place, rate, even in ((IDLE, 1.2, 0.9), (BESIDE_HOGS, 1.0, 0.85)):
        for lock in strict:
            yield Goal(lock, place, "throughput", "pthread-mutex-pi", least=rate)
        yield Goal("fair", place, "throughput", "pthread-mutex", least=rate)
        yield Goal("fair", place, "fairness", least=even)
        yield Goal("fair", place, "longest_wait", "pthread-mutex", most=1.0)
    for place, capacitor in ((FEW, f"capacitor-lifo/platoon-{SMALL_CROWD}"), (IDLE, "capacitor-lifo")):
        yield Goal(capacitor, place, "fairness", least=0.9)
        yield Goal("lifo", place, "fairness", most=0.2)


@dataclass(frozen=True)
class Target:
    lock: str
    where: str
    what: str  # the figure is a number of these
    bound: float
    at_most: bool
    figure: Figure | None

    @property
    def verdict(self) -> str:
        if self.figure is None:
            return "not measured"
        met = self.figure.median <= self.bound if self.at_most else self.figure.median >= self.bound
        return "met" if met else "MISSED"

    def in_doubt(self) -> bool:
        return self.figure is not None and self.figure.low <= self.bound <= self.figure.high


def judge(results: Results) -> list[Target]:
    """Hold every goal against the samples."""
    samples = Table(results)
    found = []
    for goal in goals():
        mine = goal.place.find(samples, goal.lock)
        theirs = goal.place.find(samples, goal.reference) if goal.reference else None
        value = None
        if mine is not None and goal.reference is None:
            value = samples.figure(mine, goal.measure)
        elif mine is not None and theirs is not None:
            value = samples.ratio(mine, theirs, goal.measure)
        found.append(Target(goal.lock, str(goal.place), goal.what, goal.bound, goal.most is not None, value))
    return found + overheads(samples)


def overheads(samples: Table) -> list[Target]:
    """Return how much longer the loop of the harness takes than one written by hand, lock by lock."""
    more: dict[str, list[float]] = {}
    for sample in (sample for i in samples.find(workload="overhead") for sample in samples.samples(i)):
        for row in sample.metrics["rows"]:
            more.setdefault(row["lock"], []).append(row["loop_ns"] - row["hand_ns"])
    return [Target(lock, "overhead", "ns", OVERHEAD, True, figure(values)) for lock, values in more.items()]


def print_targets(results: Results) -> None:
    targets = judge(results)
    print("\nTargets (the figure, and between which two values half of the runs lie)\n")
    name = max(len(target.lock) for target in targets)
    where = max(len(target.where) for target in targets)
    for target in targets:
        line = f"{paint(target.verdict)}  {target.lock:{name}}  {target.where:{where}}  "
        if target.figure is not None:
            one = target.figure
            line += f"{one.median:5.2f} ({one.low:.2f} to {one.high:.2f}) "
        line += f"{target.what}, {'at most' if target.at_most else 'at least'} {target.bound:g}"
        print(line + (": within the noise" if target.in_doubt() else ""))
    verdicts = [target.verdict for target in targets]
    met, missed = verdicts.count("met"), verdicts.count("MISSED")
    unmeasured = len(verdicts) - met - missed
    print(f"\n{met} met, {missed} missed" + (f", {unmeasured} not measured" if unmeasured else ""))


def paint(verdict: str) -> str:
    text = f"{verdict if verdict != 'not measured' else '-':6}"
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    colour = {"met": "\033[32m", "MISSED": "\033[31m"}.get(verdict, "")
    return f"{colour}{text}\033[0m" if colour else text
