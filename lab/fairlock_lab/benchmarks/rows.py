# SPDX-License-Identifier: Apache-2.0
"""Workloads with tables of their own, whose rows have targets: ``python`` and ``install``.

A ratio compares the two samples of one run; the figure is its median over the runs. On a shared machine, even two runs
of the same lock differ, so read the range. A figure is judged as it is printed, with two digits after the point. A
missed target is printed as missed; the exit status is still 0.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fairlock import table
from fairlock.usage import UsageError
from fairlock_lab.benchmarks import machine
from fairlock_lab.benchmarks.figures import Figure, Table
from fairlock_lab.benchmarks.other_work import DISTURBED, OtherWork, disturbance
from fairlock_lab.benchmarks.process import GRACE, SampleError, call
from fairlock_lab.benchmarks.results import Metrics, Option, Point, Results

DIGITS = 2  # after the point
NOISE = 0.05


@dataclass(frozen=True)
class Wanted:
    """A figure of a row: what it is, and what it should be."""

    what: str
    measure: str
    of: str = "ratio"  # to threading's; "ours" and "theirs": the figure itself
    most: float | None = None
    least: float | None = None
    unit: float = 1.0
    inverse: bool = False  # turns a second into time
    at_least_theirs: bool = False  # the upper quartile reaches threading's lower one, less NOISE

    def met(self, figure: Figure, theirs: Figure | None) -> bool | None:
        if self.at_least_theirs:
            return figure.high >= theirs.low - NOISE if theirs is not None else None
        if self.most is not None:
            return round(figure.median, DIGITS) <= self.most
        return round(figure.median, DIGITS) >= self.least if self.least is not None else None

    def target(self) -> str:
        if self.at_least_theirs:
            return ">= threading's"
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}" if self.least is not None else ""


@dataclass(frozen=True)
class Finding:
    """One measured figure of a row."""

    wanted: Wanted
    figure: Figure
    met: bool | None  # None: there is no target


@dataclass(frozen=True)
class Row:
    name: str
    config: str
    ours: str
    theirs: str | None
    wanted: tuple[Wanted, ...]
    threads: int = 1
    hogs: int = 0
    options: Mapping[str, Option] = field(default_factory=dict)
    seconds: float = 1.0
    windowed: bool = False  # --seconds says for how long

    def points(self, workload: str, seconds: float | None) -> list[Point]:
        """Return the points of this row: ours, and theirs."""
        window = seconds if seconds is not None and self.windowed else self.seconds
        locks = [self.ours, *([self.theirs] if self.theirs else [])]
        return [
            Point(workload, self.config, lock, None, None, self.threads, self.hogs, window, workload, self.options)
            for lock in locks
        ]

    def find(self, samples: Table, lock: str | None) -> int | None:
        found = samples.find(config=self.config, lock=lock, threads=self.threads, hogs=self.hogs, options=self.options)
        return found[0] if found else None

    def disturbed(self, samples: Table) -> bool:
        pair = (self.find(samples, self.ours), self.find(samples, self.theirs))
        return samples.disturbed(*(point for point in pair if point is not None))

    def figure(self, wanted: Wanted, samples: Table) -> Figure | None:
        ours, theirs = self.find(samples, self.ours), self.find(samples, self.theirs)
        figure = None
        if wanted.of == "ratio" and ours is not None and theirs is not None:
            pair = (theirs, ours) if wanted.inverse else (ours, theirs)
            figure = samples.ratio(*pair, wanted.measure)
        elif wanted.of == "theirs" and theirs is not None:
            figure = samples.figure(theirs, wanted.measure)
        elif wanted.of == "ours" and ours is not None:
            figure = samples.figure(ours, wanted.measure)
        elif wanted.of == "most of ours" and ours is not None:
            figure = Figure.of([max(float(one.metrics[wanted.measure]) for one in samples.samples(ours))])
        if figure is None:
            return None
        scale = wanted.unit
        return Figure(figure.median * scale, figure.low * scale, figure.high * scale, figure.runs)

    def findings(self, samples: Table) -> Iterator[Finding]:
        """Yield the measured figures of this row."""
        for wanted in self.wanted:
            figure = self.figure(wanted, samples)
            if figure is not None:
                theirs = self.figure(replace(wanted, of="theirs"), samples)
                yield Finding(wanted, figure, wanted.met(figure, theirs))


@dataclass(frozen=True)
class Mean:
    """A row with the geometric mean of other rows' medians, if all of them were measured."""

    name: str
    wanted: Wanted
    rows: Sequence[Row]

    def points(self, workload: str, seconds: float | None) -> list[Point]:
        return [point for row in self.rows for point in row.points(workload, seconds)]

    def disturbed(self, samples: Table) -> bool:
        return any(row.disturbed(samples) for row in self.rows)

    def findings(self, samples: Table) -> Iterator[Finding]:
        medians = [figure.median for row in self.rows if (figure := row.figure(self.wanted, samples)) is not None]
        if len(medians) == len(self.rows):
            figure = Figure.of([math.prod(medians) ** (1 / len(medians))])
            yield Finding(self.wanted, figure, self.wanted.met(figure, None))


@dataclass(frozen=True)
class RowWorkload:
    name: str
    title: str
    rows_for: Callable[[str], Sequence[Row | Mean]]  # given a Python, as machine.python() names it
    runs: int = 7
    warm_up: float = 0.15

    def points(self, words: Sequence[str], seconds: float | None) -> list[Point]:
        """Return the points of this Python's rows that have one of these words; of all its rows, without words."""
        rows = self.rows_for(machine.python())
        chosen = [row for row in rows if not words or any(word in row.name for word in words)]
        if not chosen:
            names = "; ".join(row.name for row in rows)
            raise UsageError(f"no row has one of these words: {','.join(words)}; there are: {names}")
        points: list[Point] = []
        for row in chosen:  # rows may share a rival
            points += [point for point in row.points(self.name, seconds) if point not in points]
        return points

    def print_table(self, results: Results) -> None:
        samples = Table(results)
        lines, met = [], []
        for row in self.rows_for(str(results.machine["python"])):
            findings = list(row.findings(samples))
            name = row.name + (DISTURBED if findings and row.disturbed(samples) else "")
            for one in findings:
                figure = one.figure
                span = f"{show(figure.low)} to {show(figure.high)}" if figure.high > figure.low else ""
                mark = "" if one.met is None else "met" if one.met else "MISSED"
                lines.append([name, one.wanted.what, show(figure.median), span, one.wanted.target(), mark])
                met += [] if one.met is None else [one.met]
                name = ""
        if not lines:
            return
        print(table.render(["what", "figure", "median", "half of the runs", "target", ""], lines, right=["median"]))
        print(f"\nPython {results.machine['python']}: {sum(met)} of {len(met)} targets met.")
        for line in disturbance(samples):
            print(line)


def show(value: float) -> str:
    return f"{value:.{DIGITS}f}"


def sample_in_child(words: Sequence[str], seconds: float) -> Metrics:
    """Run Python with these arguments, in a process of its own, and return the metrics that it prints."""
    others = OtherWork()
    # -P: in a clone, the sources in the current folder would hide the installed package.
    status, output, errors = call([sys.executable, "-P", *words], 2 * seconds + 2 * GRACE)
    if status != 0:
        raise SampleError(errors.strip().splitlines()[-1] if errors.strip() else f"ended with status {status}")
    return {**json.loads(output), "other_work": others.share()}
