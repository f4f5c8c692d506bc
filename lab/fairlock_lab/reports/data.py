# SPDX-License-Identifier: Apache-2.0
"""Results files, arranged as a page shows them: what was measured side by side is one group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fairlock_lab.benchmarks.figures import Figure, Table, calm, figure, value_of
from fairlock_lab.benchmarks.results import Point, Results, Sample, load
from fairlock_lab.benchmarks.workloads import NO_LOCK, SEMAPHORE_REFERENCES, WORKLOADS, Config, Workload
from fairlock_lab.reports import style
from fairlock_lab.reports.noise import FEWEST_RUNS

NEGATIVE_CONTROL = "broken"
NON_COMPETITORS = (NEGATIVE_CONTROL, NO_LOCK)  # measured, but not ranked


@dataclass(frozen=True)
class Source:
    """One file."""

    path: Path
    results: Results

    @classmethod
    def read(cls, path: Path) -> Source:
        return cls(path, load(path))

    @cached_property
    def table(self) -> Table:
        return Table(self.results)

    @property
    def cpus(self) -> int:
        return int(self.results.machine.get("cpus") or 1)


@dataclass(frozen=True)
class Group:
    """The points of one file that differ only in lock and number of threads."""

    source: Source
    workload: str
    config: str
    hogs: int
    numbers: tuple[int, ...]  # of its points, in the file
    mark: str = ""  # what tells it from another group of the same name

    @property
    def title(self) -> str:
        name = self.workload if self.workload == self.config else f"{self.workload} {self.config}"
        beside = f" beside {self.hogs} hogs" if self.hogs else ""
        return name + beside + (f" ({self.mark})" if self.mark else "")

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @property
    def known(self) -> tuple[Workload, Config] | None:
        """What the workload is, if this fairlock has it."""
        workload = WORKLOADS.get(self.workload)
        config = workload.configs.get(self.config) if workload else None
        return (workload, config) if workload and config else None

    @cached_property
    def points(self) -> dict[int, Point]:
        """The points, the locks in the order of their families."""
        points = self.source.results.plan.points
        numbers = sorted(self.numbers, key=lambda i: (style.rank(points[i].lock), points[i].threads, i))
        return {i: points[i] for i in numbers}

    @cached_property
    def threads(self) -> list[int]:
        return sorted({point.threads for point in self.points.values()})

    @cached_property
    def labels(self) -> dict[int, str]:
        """Each point's lock, with what tells it from others of the group: how it waits, and its form."""
        policies = {point.waiting for point in self.points.values()} - {None}
        return {i: label(point, several=len(policies) > 1) for i, point in self.points.items()}

    @cached_property
    def series(self) -> dict[str, Point]:
        """The lines of a figure: each label, and a point that has it."""
        return {text: self.points[i] for i, text in self.labels.items() if self.points[i].lock != NEGATIVE_CONTROL}

    def samples(self) -> Iterable[Sample]:
        return (sample for i in self.numbers for sample in self.source.table.samples(i))

    def has(self, measure: str) -> bool:
        return any(value_of(sample.metrics, measure) is not None for sample in self.samples())

    def figure(self, number: int, measure: str) -> Figure | None:
        return figure(self.in_runs(number, measure).values())

    def trusted(self, number: int) -> list[Sample]:
        """The samples of a point, by run; what other work disturbed is left out, if enough remains."""
        samples = sorted(self.source.table.samples(number), key=lambda sample: sample.run)
        undisturbed = [sample for sample in samples if calm(sample)]
        return undisturbed if len(undisturbed) >= FEWEST_RUNS else samples

    def in_runs(self, number: int, measure: str) -> dict[int, float]:
        found = {sample.run: value_of(sample.metrics, measure) for sample in self.trusted(number)}
        return {run: value for run, value in found.items() if value is not None}

    def at(self, threads: int) -> list[int]:
        return [i for i, point in self.points.items() if point.threads == threads]

    def oversubscribed(self, threads: int) -> bool:
        return threads > self.source.cpus

    @cached_property
    def semaphores(self) -> set[str]:
        """The names of those that are no locks."""
        subjects = self.source.results.subjects
        return {str(one.get("name")) for one in subjects if one.get("kind") == "semaphore"} | set(SEMAPHORE_REFERENCES)

    def kind(self, number: int) -> str:
        """What it is compared with: locks with locks, and of Python's types each with its namesake."""
        point = self.points[number]
        if point.family == "python":
            return point.lock.partition(".")[2].partition("(")[0]
        return "semaphore" if point.lock in self.semaphores else "lock"

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(self.kind(i) for i in self.numbers))

    @property
    def waiting(self) -> list[str]:
        return list(dict.fromkeys(point.waiting for point in self.points.values() if point.waiting))

    @property
    def options(self) -> dict[str, Any]:
        return dict(next(iter(self.points.values())).options)


def lock_of(point: Point) -> str:
    """Return the lock by which a point is switched on and off; one with a small array goes with the lock itself."""
    return point.lock.partition("/")[0]


def label(point: Point, *, several: bool) -> str:
    details = [point.waiting] if several and point.waiting else []
    if point.form not in (None, "guard"):
        details.append("episode in its body" if point.form == "mutex" else point.form)
    return f"{point.lock} ({', '.join(details)})" if details else point.lock


def groups_of(sources: Sequence[Source]) -> list[Group]:
    """Return what was measured, in the order of the files and their plans; what has no sample is left out."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for number, source in enumerate(sources):
        for i, point in enumerate(source.results.plan.points):
            if source.table.samples(i):
                options = tuple(sorted((key, str(value)) for key, value in point.options.items()))
                found.setdefault((number, point.workload, point.config, point.hogs, options), []).append(i)
    keys = list(found)
    return [
        Group(sources[key[0]], key[1], key[2], key[3], tuple(found[key]), _mark(key, keys, sources)) for key in keys
    ]


def _mark(key: tuple[Any, ...], keys: Sequence[tuple[Any, ...]], sources: Sequence[Source]) -> str:
    """Return what the options have that groups of the same name have not; and the file, if there are two."""
    same = [other for other in keys if other[1:4] == key[1:4] and other != key]
    others = {option for other in same if other[0] == key[0] for option in other[4]}
    words = [f"{name} {value}" for name, value in key[4] if (name, value) not in others] if others else []
    if any(other[0] != key[0] for other in same):
        paths = [source.path for source in sources]
        mine = paths[key[0]]
        words.append(mine.name if [path.name for path in paths].count(mine.name) == 1 else str(mine))
    return ", ".join(words)


def locks_of(groups: Iterable[Group]) -> list[str]:
    """Return every lock that is drawn, by family."""
    locks = {lock_of(point) for group in groups for point in group.points.values()} - {NEGATIVE_CONTROL}
    return sorted(locks, key=style.rank)
