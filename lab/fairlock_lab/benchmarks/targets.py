# SPDX-License-Identifier: Apache-2.0
"""The performance targets of the project. No test depends on timings: a missed target is only reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairlock_lab.benchmarks.figures import Figure, Table, figure
from fairlock_lab.benchmarks.lock_sets import FIFO_LOCKS, SEMAPHORES
from fairlock_lab.benchmarks.results import BenchResults

CROWD, SMALL_CROWD, HOGS = 32, 8, 2

# For each lock without contention: the reference, and how many times as long as the reference the lock may take.
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
OVERHEAD = 2.0  # nanoseconds that the harness's loop may take longer than a handwritten one


@dataclass(frozen=True)
class Setting:
    workload: str
    config: str
    threads: int
    hogs: int = 0

    def __str__(self) -> str:
        plural = "" if self.threads == 1 else "s"
        beside = f", {self.hogs} hogs" if self.hogs else ""
        return f"{self.workload}, {self.threads} thread{plural}{beside}"

    def find(self, samples: Table, lock: str) -> int | None:
        numbers = samples.find(
            workload=self.workload, config=self.config, threads=self.threads, hogs=self.hogs, lock=lock
        )
        return next(iter(numbers), None)


ALONE = Setting("uncontended", "uncontended", 1)
TWO = Setting("mutex", "maximum", 2)
TWO_ON_SEMAPHORES = Setting("semaphore", "semabench", 2)
IDLE = Setting("oversubscribed", "oversubscribed", CROWD)
BESIDE_HOGS = Setting("oversubscribed", "oversubscribed", CROWD, HOGS)
FEW = Setting("oversubscribed", "oversubscribed", SMALL_CROWD)


@dataclass(frozen=True)
class Goal:
    lock: str
    setting: Setting
    measure: str
    reference: str | None = None  # None: compare the figure, not a ratio
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
    """Yield the goals of the project."""
    for lock, (reference, most) in UNCONTENDED.items():
        yield Goal(lock, ALONE, "ns", reference, most=most)
    for lock in FIFO_LOCKS:
        yield Goal(lock, TWO, "throughput", "ck-ticket", least=1.0)
    for semaphore in SEMAPHORES:
        yield Goal(semaphore, TWO_ON_SEMAPHORES, "throughput", "sem_t", least=1.0)
    strict = (*FIFO_LOCKS, *(semaphore for semaphore in SEMAPHORES if semaphore != "fair-semaphore"))
    for setting, rate, even in ((IDLE, 1.2, 0.9), (BESIDE_HOGS, 1.0, 0.85)):
        for lock in strict:
            yield Goal(lock, setting, "throughput", "pthread-mutex-pi", least=rate)
        yield Goal("fair", setting, "throughput", "pthread-mutex", least=rate)
        yield Goal("fair", setting, "fairness", least=even)
        yield Goal("fair", setting, "longest_wait", "pthread-mutex", most=1.0)
    for setting, capacitor in ((FEW, f"capacitor-lifo/platoon-{SMALL_CROWD}"), (IDLE, "capacitor-lifo")):
        yield Goal(capacitor, setting, "fairness", least=0.9)
        yield Goal("lifo", setting, "fairness", most=0.2)


@dataclass(frozen=True)
class Target:
    lock: str
    where: str
    what: str  # the unit of the figure
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


def judge(results: BenchResults) -> list[Target]:
    """Compare the samples with every goal."""
    samples = Table(results)
    targets = []
    for goal in goals():
        subject = goal.setting.find(samples, goal.lock)
        reference = goal.setting.find(samples, goal.reference) if goal.reference else None
        value = None
        if subject is not None and goal.reference is None:
            value = samples.figure(subject, goal.measure)
        elif subject is not None and reference is not None:
            value = samples.ratio(subject, reference, goal.measure)
        targets.append(Target(goal.lock, str(goal.setting), goal.what, goal.bound, goal.most is not None, value))
    return targets + overheads(samples)


def overheads(samples: Table) -> list[Target]:
    """Return, for each lock, how much longer the loop of the harness takes than a handwritten one."""
    more: dict[str, list[float]] = {}
    for sample in (sample for i in samples.find(workload="overhead") for sample in samples.samples(i)):
        for row in sample.metrics["rows"]:
            more.setdefault(row["lock"], []).append(row["loop_ns"] - row["hand_ns"])
    return [Target(lock, "overhead", "ns", OVERHEAD, True, figure(values)) for lock, values in more.items()]
