# SPDX-License-Identifier: Apache-2.0
"""What a claim of a paper consists of: comparisons of one lock with another, or of a figure with a bound."""

from __future__ import annotations

from dataclasses import dataclass

from fairlock_lab.benchmarks.workloads import WORKLOADS

CROWD = "oversubscribed"  # the workload with more threads than processors
EXTRA_THREADS = {"rocksdb": 1}  # how many more threads a workload has than a point says: here the writer


@dataclass(frozen=True)
class Case:
    """One lock, with one config and number of threads."""

    workload: str
    config: str
    lock: str
    threads: int
    form: str = "guard"  # also matches points that have no choice of form

    def fits(self, cpus: int) -> bool:
        """Whether each thread has a processor, or the workload has more threads than processors."""
        return self.threads + EXTRA_THREADS.get(self.workload, 0) <= cpus or self.workload == CROWD

    def __str__(self) -> str:
        form = "" if self.form == "guard" else f", {self.form}"
        return f"{self.lock}{form} at {self.threads}"


@dataclass(frozen=True)
class Comparison:
    subject: Case
    reference: Case | None = None  # None: compare the figure, not a ratio
    least: float | None = None
    most: float | None = None
    measure: str = "throughput"

    def holds(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    @property
    def cases(self) -> list[Case]:
        return [self.subject, *([self.reference] if self.reference else [])]


@dataclass(frozen=True)
class Claim:
    name: str
    paper: str  # with the section or figure
    words: str  # what the paper says, paraphrased
    cpus: int  # with fewer processors, the claim cannot be decided
    comparisons: tuple[Comparison, ...] = ()

    def command(self, cpus: int) -> str:
        """Return the command that measures as much of the claim as this number of processors allows."""
        fitting = [case for comparison in self.comparisons for case in comparison.cases if case.fits(cpus)]
        configs = ",".join(dict.fromkeys(case.config for case in fitting))
        threads = ",".join(map(str, sorted({case.threads for case in fitting})))
        words = f"fairlock bench {fitting[0].workload} --config {configs} --threads {threads}"
        waiting = WORKLOADS[fitting[0].workload].paper_waiting
        return words + (f" --waiting {','.join(waiting)}" if waiting else "")


def bound(comparison: Comparison) -> str:
    parts = [f"at least {comparison.least:g}"] if comparison.least is not None else []
    parts += [f"at most {comparison.most:g}"] if comparison.most is not None else []
    return " and ".join(parts)
