# SPDX-License-Identifier: Apache-2.0
"""Compare two files of the same workload: what became faster, slower, fairer or less fair, and what is only noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairlock import table
from fairlock_lab.benchmarks.lock_sets import NO_LOCK
from fairlock_lab.benchmarks.results import Point
from fairlock_lab.reports.contest import leading
from fairlock_lab.reports.data import NEGATIVE_CONTROL, Group, Source, groups_of
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.noise import FEWEST_RUNS, Interval, deviation, difference, logs, median, ratio, typical
from fairlock_lab.reports.style import LIBRARIES, SYSTEM, look
from fairlock_lab.reports.words import counted, threads

Verdict = Literal[
    "faster", "slower", "fairer", "less fair", "no difference beyond the noise", "cannot tell: too few runs"
]
NOISE: Verdict = "no difference beyond the noise"
UNKNOWN: Verdict = "cannot tell: too few runs"
CHANGED: tuple[Verdict, ...] = ("slower", "less fair", "faster", "fairer")
FAIRNESS = "fairness"
SMALLEST = 0.02  # a smaller difference of fairness is ignored


@dataclass(frozen=True)
class Change:
    """One point in the old file and in the new one."""

    group: Group  # of the new file
    number: int  # of its point
    measure: str
    old: float
    new: float
    by: Interval  # new / old; for fairness, new - old
    verdict: Verdict

    @property
    def point(self) -> Point:
        return self.group.points[self.number]

    @property
    def label(self) -> str:
        return self.group.labels[self.number]

    @property
    def regression(self) -> bool:
        return self.verdict in ("slower", "less fair")

    @property
    def written(self) -> str:
        if self.measure == FAIRNESS:
            return f"{self.by.value:+.2f}"
        return f"x {self.by.value:.2f}"

    @property
    def interval(self) -> str:
        if not self.by.known:
            return ""
        form = "+.2f" if self.measure == FAIRNESS else ".2f"
        return f"{self.by.low:{form}} to {self.by.high:{form}}"


@dataclass(frozen=True)
class Comparison:
    old: Source
    new: Source
    changes: Sequence[Change]
    only: Sequence[str]  # points that only one file has
    differences: Sequence[str]  # between the machines and parameters

    def of(self, *measures: str) -> list[Change]:
        return [change for change in self.changes if change.measure in measures]

    @property
    def words(self) -> str:
        """The result, in a sentence or two."""
        counts = Counter(change.verdict for change in self.changes)
        parts = [f"{counts[verdict]} {verdict}" for verdict in CHANGED if counts[verdict]]
        text = (
            f"Of {counted(len(self.changes), 'comparison')}: {', '.join(parts)}."
            if parts
            else "Nothing changed beyond the noise."
        )
        rest = [f"{counts[verdict]} with {verdict}" for verdict in (NOISE,) if parts and counts[verdict]]
        unknown = counts[UNKNOWN]
        if unknown == len(self.changes):
            return f"The comparison needs at least {FEWEST_RUNS} runs in each file."
        if rest:
            text += f" {rest[0][0].upper()}{rest[0][1:]}."
        if unknown:
            text += f" {unknown} cannot be decided: too few runs."
        return text + self.elsewhere

    @property
    def elsewhere(self) -> str:
        """A warning if the locks of other libraries changed too: the machine may be the reason."""
        others = [change for change in self.changes if change.measure != FAIRNESS and is_reference(change.point.lock)]
        moved = [change for change in others if change.verdict not in (NOISE, UNKNOWN)]
        if not others or len(moved) < len(others) / 4:
            return ""
        middle = median([change.by.value for change in others])
        return (
            f" Of the {len(others)} comparisons of other libraries' locks, {len(moved)} changed too "
            f"(median: x {middle:.2f}): the machine or the compiler may be the reason."
        )


def is_reference(lock: str) -> bool:
    return lock.startswith("ck-") or lock == NO_LOCK or look(lock).family in (SYSTEM, LIBRARIES)


def comparable(sources: Sequence[Source]) -> bool:
    """Whether these are two files that have points in common."""
    if len(sources) != 2:
        return False
    old, new = (set(map(key, source.results.plan.points)) for source in sources)
    return bool(old & new)


def key(point: Point) -> tuple[Any, ...]:
    """Return what identifies a point. Its window and most of its options are left out."""
    # A different body of the Python workload is a different question, and so is a different program.
    body = point.options.get("body") or point.options.get("command")
    return (point.workload, point.config, point.lock, point.waiting, point.form, point.threads, point.hogs, body)


def compare(old: Source, new: Source) -> Comparison:
    before = {key(point): (group, i) for group in groups_of([old]) for i, point in group.points.items()}
    changes: list[Change] = []
    many = len(before)
    seen = set()
    for group in groups_of([new]):
        pairs = []
        for i, point in group.points.items():
            seen.add(key(point))
            if key(point) in before and point.lock != NEGATIVE_CONTROL:
                pairs.append((i, before[key(point)]))
        for measure in (leading(group), FAIRNESS):
            if measure is not None:
                changes += changes_of(group, pairs, measure, many)
    only = [f"{point} only in {old.path.name}" for point in points_of(old) if key(point) not in seen]
    only += [f"{point} only in {new.path.name}" for point in points_of(new) if key(point) not in before]
    return Comparison(old, new, changes, only, list(differences(old, new)))


def points_of(source: Source) -> list[Point]:
    return [point for group in groups_of([source]) for point in group.points.values()]


def changes_of(
    group: Group, pairs: Sequence[tuple[int, tuple[Group, int]]], measure: str, many: int
) -> Iterator[Change]:
    values = []
    for i, (older, j) in pairs:
        new, old = list(group.in_runs(i, measure).values()), list(older.in_runs(j, measure).values())
        if new and old and not (measure == FAIRNESS and group.points[i].threads == 1):
            values.append((i, new, old))
    scale = (lambda values: values) if measure == FAIRNESS else logs
    noise = typical(deviation(scale(side)) for _, new, old in values for side in (new, old))
    for i, new, old in values:
        by = (difference if measure == FAIRNESS else ratio)(new, old, noise)
        if by is not None:
            yield Change(group, i, measure, median(old), median(new), by, judge(by, measure, many))


def judge(by: Interval, measure: str, many: int = 1) -> Verdict:
    """Return the verdict on one of ``many`` comparisons."""
    if not by.known:
        return UNKNOWN
    by = by.among(many, logarithmic=measure != FAIRNESS)
    if measure == FAIRNESS:
        return "fairer" if by.above(SMALLEST) else "less fair" if by.below(-SMALLEST) else NOISE
    more, less = by.above(1), by.below(1)
    if MEASURES[measure].better == "less":
        more, less = less, more
    return "faster" if more else "slower" if less else NOISE


# --- other differences ---

PARAMETERS = ("seconds", "warm_up", "runs", "pin", "hogs")


def differences(old: Source, new: Source) -> Iterator[str]:
    """Yield other differences between the two files, which may be the reason for a change."""
    yield from unequal("machine", old.results.machine, new.results.machine, ignored=("load",))
    then, now = ({name: getattr(source.results.plan, name) for name in PARAMETERS} for source in (old, new))
    yield from unequal("plan", then, now)
    before = {key(point): point for point in old.results.plan.points}
    seen: set[str] = set()
    for point in new.results.plan.points:
        older = before.get(key(point))
        if older is not None:
            where = f"{point.workload} {point.config}"
            differing = [*unequal(where, dict(older.options), dict(point.options))]
            if old.results.plan.seconds == new.results.plan.seconds:
                differing += unequal(where, {"seconds": older.seconds}, {"seconds": point.seconds})
            yield from (difference for difference in differing if difference not in seen)
            seen.update(differing)
    if new.results.created < old.results.created:
        yield f"{new.path.name} is older than {old.path.name}: are the files in the right order?"


def unequal(where: str, old: Mapping[str, Any], new: Mapping[str, Any], ignored: Sequence[str] = ()) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        if name not in ignored and old.get(name) != new.get(name):
            yield f"{where}: {name.replace('_', ' ')} {old.get(name)}, then {new.get(name)}"


# --- as text ---


MOST_LINES = 30  # for points that did not change


def show(comparison: Comparison) -> str:
    """Return the comparison as text, with the changes first."""
    order = {"slower": 0, "less fair": 1, "faster": 2, "fairer": 3, UNKNOWN: 4, NOISE: 5}
    shown = sorted(comparison.changes, key=lambda change: order[change.verdict])
    quiet = [change for change in shown if change.verdict in (NOISE, UNKNOWN)]
    if len(quiet) > MOST_LINES:
        shown = [change for change in shown if change not in quiet]
    lines = [f"{comparison.new.path} against {comparison.old.path}"]
    lines += [f"different: {difference}" for difference in comparison.differences]
    if shown:
        header = ["verdict", "where", "lock", "measure", "old", "new", "change", "95 % interval"]
        lines += ["", table.render(header, map(cells, shown), right=["old", "new", "change"])]
    lines += ["", comparison.words]
    if comparison.only:
        lines.append(f"Not compared: {counted(len(comparison.only), 'point')}, such as {comparison.only[0]}.")
    return "\n".join(lines)


def cells(change: Change) -> list[str]:
    measure = MEASURES[change.measure]
    where = f"{change.group.title}, {threads(change.point.threads)}"
    values = [measure.write(change.old), measure.write(change.new), change.written, change.interval]
    return [change.verdict, where, change.label, measure.title.lower(), *values]
