# SPDX-License-Identifier: Apache-2.0
"""Results files, arranged as a page shows them: points that were measured side by side form a group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fairlock_lab.benchmarks.figures import Figure, Table, figure, is_undisturbed, value_of
from fairlock_lab.benchmarks.lock_sets import NO_LOCK, SEMAPHORE_REFERENCES
from fairlock_lab.benchmarks.results import BenchResults, Point, Sample, load
from fairlock_lab.benchmarks.workload_types import Config, Workload
from fairlock_lab.benchmarks.workloads import WORKLOADS
from fairlock_lab.reports import style
from fairlock_lab.reports.noise import FEWEST_RUNS

NEGATIVE_CONTROL = "broken"
NON_COMPETITORS = (NEGATIVE_CONTROL, NO_LOCK)  # measured, but not ranked


@dataclass(frozen=True)
class Source:
    """Results, and the file that they come from."""

    path: Path
    results: BenchResults

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
    numbers: tuple[int, ...]  # the indices of its points in the file
    mark: str = ""  # distinguishes it from another group of the same name

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
        """The workload and the config, if this fairlock has them."""
        workload = WORKLOADS.get(self.workload)
        config = workload.configs.get(self.config) if workload else None
        return (workload, config) if workload and config else None

    @cached_property
    def points(self) -> dict[int, Point]:
        """The points, in the order of the families of their locks."""
        points = self.source.results.plan.points
        numbers = sorted(self.numbers, key=lambda i: (style.rank(points[i].lock), points[i].threads, i))
        return {i: points[i] for i in numbers}

    @cached_property
    def threads(self) -> list[int]:
        return sorted({point.threads for point in self.points.values()})

    @cached_property
    def labels(self) -> dict[int, str]:
        """Each point's lock; with its waiting policy and its form, if the group has several of them."""
        policies = {point.waiting for point in self.points.values()} - {None}
        return {i: label(point, several=len(policies) > 1) for i, point in self.points.items()}

    @cached_property
    def series(self) -> dict[str, Point]:
        """The lines of a figure: each label, with a point that has it."""
        return {text: self.points[i] for i, text in self.labels.items() if self.points[i].lock != NEGATIVE_CONTROL}

    def samples(self) -> Iterable[Sample]:
        return (sample for i in self.numbers for sample in self.source.table.samples(i))

    def has(self, measure: str) -> bool:
        return any(value_of(sample.metrics, measure) is not None for sample in self.samples())

    def figure(self, number: int, measure: str) -> Figure | None:
        return figure(self.in_runs(number, measure).values())

    def trusted(self, number: int) -> list[Sample]:
        """The samples of a point, by run, without those that other work disturbed if enough others remain."""
        samples = sorted(self.source.table.samples(number), key=lambda sample: sample.run)
        undisturbed = [sample for sample in samples if is_undisturbed(sample)]
        return undisturbed if len(undisturbed) >= FEWEST_RUNS else samples

    def in_runs(self, number: int, measure: str) -> dict[int, float]:
        values = {sample.run: value_of(sample.metrics, measure) for sample in self.trusted(number)}
        return {run: value for run, value in values.items() if value is not None}

    def at(self, threads: int) -> list[int]:
        return [i for i, point in self.points.items() if point.threads == threads]

    def oversubscribed(self, threads: int) -> bool:
        return threads > self.source.cpus

    @cached_property
    def semaphores(self) -> set[str]:
        """The names of the semaphores."""
        subjects = self.source.results.subjects
        names = {str(subject.get("name")) for subject in subjects if subject.get("kind") == "semaphore"}
        return names | set(SEMAPHORE_REFERENCES)

    def kind(self, number: int) -> str:
        """The kind that a point is compared with: locks with locks, and each Python type with its namesake."""
        point = self.points[number]
        if point.family == "python":
            return point.lock.partition(".")[2].partition("(")[0]
        return "semaphore" if point.lock in self.semaphores else "lock"

    @property
    def family(self) -> str:
        return next(iter(self.points.values())).family

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
    """Return the lock whose button shows and hides a point. A lock with a small array shares the lock's button."""
    return point.lock.partition("/")[0]


def label(point: Point, *, several: bool) -> str:
    details = [point.waiting] if several and point.waiting else []
    if point.form not in (None, "guard"):
        details.append("episode in its body" if point.form == "mutex" else point.form)
    return f"{point.lock} ({', '.join(details)})" if details else point.lock


def groups_of(sources: Sequence[Source]) -> list[Group]:
    """Return the groups that have samples, in the order of the files and their plans."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, source in enumerate(sources):
        for i, point in enumerate(source.results.plan.points):
            if source.table.samples(i):
                options = tuple(sorted((key, str(value)) for key, value in point.options.items()))
                groups.setdefault((number, point.workload, point.config, point.hogs, options), []).append(i)
    keys = list(groups)
    return [
        Group(sources[key[0]], key[1], key[2], key[3], tuple(groups[key]), _mark(key, keys, sources)) for key in keys
    ]


def _mark(key: tuple[Any, ...], keys: Sequence[tuple[Any, ...]], sources: Sequence[Source]) -> str:
    """Return the options that other groups of the same name lack, and the file if there are two."""
    same = [other for other in keys if other[1:4] == key[1:4] and other != key]
    others = {option for other in same if other[0] == key[0] for option in other[4]}
    words = [f"{name} {value}" for name, value in key[4] if (name, value) not in others] if others else []
    if any(other[0] != key[0] for other in same):
        paths = [source.path for source in sources]
        own = paths[key[0]]
        words.append(own.name if [path.name for path in paths].count(own.name) == 1 else str(own))
    return ", ".join(words)


def locks_of(groups: Iterable[Group]) -> list[str]:
    """Return every lock in the figures, by family."""
    locks = {lock_of(point) for group in groups for point in group.points.values()} - {NEGATIVE_CONTROL}
    return sorted(locks, key=style.rank)
