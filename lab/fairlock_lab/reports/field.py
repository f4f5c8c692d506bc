# SPDX-License-Identifier: Apache-2.0
"""The locks that contended in the same places, and the score of each: what the adviser compares."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairlock_lab.benchmarks.figures import is_undisturbed, value_of
from fairlock_lab.benchmarks.lock_sets import PEERS
from fairlock_lab.benchmarks.programs import FAMILIES as PROGRAMS
from fairlock_lab.benchmarks.results import Sample
from fairlock_lab.reports.contest import leading, usual_lock
from fairlock_lab.reports.data import NON_COMPETITORS, Group

EVEN = 0.8  # slowest thread's turns divided by the fastest one's
FAST = 0.8  # throughput divided by the reference's
WORK_OUTSIDE = 20  # steps outside the lock; less work takes no longer than a hand-over


@dataclass(frozen=True)
class Place:
    """A group of points, at one number of threads."""

    group: Group
    threads: int

    @property
    def work_outside(self) -> bool:
        """Whether threads do at least as much work outside the lock as inside. Other places saturate the lock."""
        options = self.group.options
        inside, outside = (
            int(options.get(native) or options.get(python) or 0)
            for native, python in (("critical", "inside"), ("non-critical", "outside"))
        )
        return self.group.family in PROGRAMS or outside >= max(inside, WORK_OUTSIDE)

    def candidates(self, kind: str) -> dict[str, int]:
        """Return the points of the locks that a program could choose, by label.

        This leaves out locks of other libraries, controls, small arrays, and locks that are measured under two names.
        """
        points = self.group.points
        return {
            self.group.labels[i]: i
            for i in self.group.at(self.threads)
            if self.group.kind(i) == kind
            and points[i].lock not in (*NON_COMPETITORS, *PEERS)
            and "/" not in points[i].lock
            and not points[i].lock.startswith(("semaphore-around", "ck-", "std-"))
            and points[i].form in ("guard", None)
        }

    def speed(self, kind: str, label: str, reference: str | None) -> float | None:
        """Return a lock's throughput divided by that of the reference; without a reference, by the best one's."""
        numbers = self.candidates(kind)
        if label not in numbers:
            return None
        if reference is not None:
            if reference not in numbers:
                return None
            ratio = self.group.source.table.ratio(numbers[label], numbers[reference], "throughput")
            return ratio.median if ratio is not None else None
        figures = {name: self.group.figure(i, "throughput") for name, i in numbers.items()}
        best = max((figure.median for figure in figures.values() if figure is not None), default=0.0)
        figure = figures[label]
        return figure.median / best if figure is not None and best else None

    def fairness(self, kind: str, label: str) -> float | None:
        number = self.candidates(kind).get(label)
        figure = self.group.figure(number, "fairness") if number is not None else None
        return figure.median if figure is not None else None


@dataclass(frozen=True)
class Score:
    """The score of a lock. Values by run are geometric means over all places of the lock's share of the best median."""

    slowest: Mapping[int, float]  # by run: turns of the slowest thread; empty: it got no turn in a run
    throughput: Mapping[int, float]  # by run
    fairness: float  # the lowest median, where the lock is saturated
    saturated: Sequence[float]  # speeds where the lock is saturated
    outside: Sequence[float]  # speeds where threads also work outside

    @property
    def good(self) -> bool:
        """Whether the lock neither starves threads nor leaves processors idle."""
        return self.fairness >= EVEN and min(self.outside, default=1.0) >= FAST

    @property
    def worst_speed(self) -> float:
        return min([*self.saturated, *self.outside], default=0.0)


@dataclass(frozen=True)
class Field:
    """The locks of one kind that contended in the same places."""

    kind: str
    places: Sequence[Place]  # where all of them were measured
    others: Sequence[Place]  # where some of them were measured too: a weakness there counts
    scores: Mapping[str, Score]
    usual: str | None

    def order(self, label: str) -> str | None:
        """Return the order of admission of a lock."""
        group = self.places[0].group
        lock = group.points[self.places[0].candidates(self.kind)[label]].lock
        subjects = group.source.results.subjects
        return next((subject.get("order") for subject in subjects if subject.get("name") == lock), None)


def places_of(groups: Sequence[Group], kind: str, *, crowded: bool) -> list[Place]:
    """Return the places where several threads contended for one lock, and the number of turns is what counts."""
    return [
        place
        for group in groups
        if leading(group) == "throughput" and group.has("fairness")
        for threads in group.threads
        if threads > 1 and group.oversubscribed(threads) is crowded
        if len((place := Place(group, threads)).candidates(kind)) > 1
    ]


def field_of(groups: Sequence[Group], kind: str, *, crowded: bool) -> Field | None:
    """Return the locks to compare, and where they were measured."""
    regime = places_of(groups, kind, crowded=crowded)
    places = comparable_places(regime, kind)
    if not places:
        return None
    others = [place for place in regime if place not in places]
    if crowded:  # a program with many threads may at times have few runnable ones
        others += [place for place in places_of(groups, kind, crowded=False) if place.work_outside]
    labels = list(places[0].candidates(kind))
    usual = usual_lock(labels)
    slowest = shares(places, kind, slowest_of)
    throughput = shares(places, kind, lambda sample: value_of(sample.metrics, "throughput"))

    def speeds(label: str, *, outside: bool) -> list[float]:
        chosen = [
            place for place in (*places, *others) if place.work_outside is outside and (outside or place in places)
        ]
        return [value for place in chosen if (value := place.speed(kind, label, usual)) is not None]

    def fairness(label: str) -> float:
        crowd = [place for place in (*places, *others) if place.group.oversubscribed(place.threads) is crowded]
        saturated = [place for place in crowd if not place.work_outside and label in place.candidates(kind)] or crowd
        return min((value for place in saturated if (value := place.fairness(kind, label)) is not None), default=1.0)

    scores = {
        label: Score(
            slowest.get(label, {}),
            throughput.get(label, {}),
            fairness(label),
            speeds(label, outside=False),
            speeds(label, outside=True),
        )
        for label in labels
    }
    return Field(kind, places, others, scores, usual)


def comparable_places(places: Sequence[Place], kind: str) -> list[Place]:
    """Return the places where the same locks were measured: where most of them were, and where waiters can sleep."""
    entrants: dict[frozenset[str], list[Place]] = {}
    for place in places:
        entrants.setdefault(frozenset(place.candidates(kind)), []).append(place)

    def worth(labels: frozenset[str]) -> tuple[bool, int, int]:
        first = entrants[labels][0]
        sleeps = first.group.oversubscribed(first.threads) and any("park" in policy for policy in first.group.waiting)
        return sleeps, sum(not label.startswith("capacitor") for label in labels), len(entrants[labels])

    return entrants[max(entrants, key=worth)] if entrants else []


def disturbed(places: Sequence[Place]) -> bool:
    """Whether other work disturbed most of the samples."""
    numbers = [(place.group, i) for place in places for i in place.group.at(place.threads)]
    samples = [sample for group, i in numbers for sample in group.source.table.samples(i)]
    return sum(not is_undisturbed(sample) for sample in samples) > len(samples) / 2


def slowest_of(sample: Sample) -> float | None:
    """Return the turns per second of the slowest thread, or of all threads if they were not counted one by one."""
    counts, elapsed = sample.metrics.get("counts"), sample.metrics.get("elapsed")
    return min(counts) / elapsed if counts and elapsed else value_of(sample.metrics, "throughput")


def shares(places: Sequence[Place], kind: str, of: Callable[[Sample], float | None]) -> dict[str, dict[int, float]]:
    """Return, by label and run, the geometric mean of a lock's shares of the best median of each place."""
    logs: dict[str, dict[int, list[float]]] = {}
    for place in places:
        values = {
            label: {sample.run: value for sample in place.group.trusted(i) if (value := of(sample)) is not None}
            for label, i in place.candidates(kind).items()
        }
        best = max((statistics.median(runs.values()) for runs in values.values() if runs), default=1.0)
        for label, runs in values.items():
            by_run = logs.setdefault(label, {})
            # Leaving out only the runs without turns would favour a lock that starves threads.
            if min(runs.values(), default=0) <= 0:
                continue
            for run, value in runs.items():
                by_run.setdefault(run, []).append(math.log(value / best))
    return {
        label: {run: math.exp(statistics.fmean(logs)) for run, logs in runs.items() if len(logs) == len(places)}
        for label, runs in logs.items()
    }
