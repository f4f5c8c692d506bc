# SPDX-License-Identifier: Apache-2.0
"""Workloads whose table has a row for each question, with a target: ``python`` and ``install``.

A ratio compares the two samples of one run, and the figure is the median of the ratios. On a shared machine, even two
runs of the same lock differ, so consider the range. A figure is judged as printed, with two decimal places. A
missed target is only reported: the exit status is still 0.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fairlock_lab.benchmarks import machine
from fairlock_lab.benchmarks.blocks import Block, Grid
from fairlock_lab.benchmarks.figures import Figure, Table
from fairlock_lab.benchmarks.other_work import DISTURBED, OtherWork, disturbance
from fairlock_lab.benchmarks.process import GRACE, SampleError, call
from fairlock_lab.benchmarks.results import BenchResults, Metrics, Option, Point
from fairlock_lab.errors import ArgumentError

DIGITS = 2  # decimal places
NOISE = 0.05


@dataclass(frozen=True)
class RowFigure:
    """A figure of a row, and its target."""

    title: str
    measure: str
    of: str = "ratio"  # "ratio": of our type's figure to threading's; "ours", "theirs": the figure of one type
    most: float | None = None
    least: float | None = None
    unit: float = 1.0
    inverse: bool = False  # the measure is a rate, and the ratio is one of times
    at_least_theirs: bool = False  # the target: our upper quartile reaches their lower one, less NOISE

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

    measured: RowFigure
    figure: Figure
    met: bool | None  # None: there is no target


@dataclass(frozen=True)
class Row:
    name: str
    config: str
    ours: str
    theirs: str | None
    figures: tuple[RowFigure, ...]
    threads: int = 1
    hogs: int = 0
    options: Mapping[str, Option] = field(default_factory=dict)
    seconds: float = 1.0
    windowed: bool = False  # whether `--seconds` sets the window

    def points(self, workload: str, seconds: float | None) -> list[Point]:
        """Return the point of our type, and that of threading's."""
        window = seconds if seconds is not None and self.windowed else self.seconds
        locks = [self.ours, *([self.theirs] if self.theirs else [])]
        return [
            Point(workload, self.config, lock, None, None, self.threads, self.hogs, window, workload, self.options)
            for lock in locks
        ]

    def find(self, samples: Table, lock: str | None) -> int | None:
        where = {"config": self.config, "threads": self.threads, "hogs": self.hogs, "options": self.options}
        return next(iter(samples.find(lock=lock, **where)), None)

    def disturbed(self, samples: Table) -> bool:
        pair = (self.find(samples, self.ours), self.find(samples, self.theirs))
        return samples.disturbed(*(point for point in pair if point is not None))

    def figure(self, measured: RowFigure, samples: Table) -> Figure | None:
        ours, theirs = self.find(samples, self.ours), self.find(samples, self.theirs)
        figure = None
        if measured.of == "ratio" and ours is not None and theirs is not None:
            pair = (theirs, ours) if measured.inverse else (ours, theirs)
            figure = samples.ratio(*pair, measured.measure)
        elif measured.of == "theirs" and theirs is not None:
            figure = samples.figure(theirs, measured.measure)
        elif measured.of == "ours" and ours is not None:
            figure = samples.figure(ours, measured.measure)
        elif measured.of == "most of ours" and ours is not None:
            figure = Figure.of([max(float(sample.metrics[measured.measure]) for sample in samples.samples(ours))])
        if figure is None:
            return None
        scale = measured.unit
        return Figure(figure.median * scale, figure.low * scale, figure.high * scale, figure.runs)

    def findings(self, samples: Table) -> Iterator[Finding]:
        """Yield the measured figures of this row."""
        for measured in self.figures:
            figure = self.figure(measured, samples)
            if figure is not None:
                theirs = self.figure(replace(measured, of="theirs"), samples)
                yield Finding(measured, figure, measured.met(figure, theirs))


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the medians of other rows, if all of them were measured."""

    name: str
    measured: RowFigure
    rows: Sequence[Row]

    def points(self, workload: str, seconds: float | None) -> list[Point]:
        return [point for row in self.rows for point in row.points(workload, seconds)]

    def disturbed(self, samples: Table) -> bool:
        return any(row.disturbed(samples) for row in self.rows)

    def findings(self, samples: Table) -> Iterator[Finding]:
        medians = [figure.median for row in self.rows if (figure := row.figure(self.measured, samples)) is not None]
        if len(medians) == len(self.rows):
            figure = Figure.of([math.prod(medians) ** (1 / len(medians))])
            yield Finding(self.measured, figure, self.measured.met(figure, None))


@dataclass(frozen=True)
class RowWorkload:
    name: str
    title: str
    rows_for: Callable[[str], Sequence[Row | Mean]]  # takes a Python version, as machine.python() names it
    runs: int = 7
    warm_up: float = 0.15

    def points(self, words: Sequence[str], seconds: float | None) -> list[Point]:
        """Return the points of the rows whose names contain one of these words; without words, of all rows."""
        rows = self.rows_for(machine.python())
        chosen = [row for row in rows if not words or any(word in row.name for word in words)]
        if not chosen:
            names = "; ".join(row.name for row in rows)
            raise ArgumentError(f"no row has one of these words: {','.join(words)}; the rows are: {names}")
        points: list[Point] = []
        for row in chosen:  # two rows may share a point
            points += [point for point in row.points(self.name, seconds) if point not in points]
        return points

    def blocks(self, results: BenchResults) -> list[Block]:
        """Return the table of all rows, and how many targets are met."""
        samples = Table(results)
        lines, verdicts = [], []
        for row in self.rows_for(str(results.machine["python"])):
            findings = list(row.findings(samples))
            name = row.name + (DISTURBED if findings and row.disturbed(samples) else "")
            for finding in findings:
                figure = finding.figure
                quartiles = f"{show(figure.low)} to {show(figure.high)}" if figure.high > figure.low else ""
                mark = "" if finding.met is None else "met" if finding.met else "MISSED"
                goal = finding.measured.target()
                lines.append([name, finding.measured.title, show(figure.median), quartiles, goal, mark])
                verdicts += [] if finding.met is None else [finding.met]
                name = ""
        if not lines:
            return []
        header = ["what", "figure", "median", "half of the runs", "target", ""]
        summary = f"Python {results.machine['python']}: {sum(verdicts)} of {len(verdicts)} targets met."
        return [Grid(header, lines, ["median"]), "\n".join([summary, *disturbance(samples)])]


def show(value: float) -> str:
    return f"{value:.{DIGITS}f}"


def sample_in_child(words: Sequence[str], seconds: float) -> Metrics:
    """Run Python with these arguments in a new process, and return the metrics that it prints."""
    others = OtherWork()
    # -P: in a clone, the sources in the current folder would hide the installed package.
    status, output, errors = call([sys.executable, "-P", *words], 2 * seconds + 2 * GRACE)
    if status != 0:
        raise SampleError(errors.strip().splitlines()[-1] if errors.strip() else f"ended with status {status}")
    return {**json.loads(output), "other_work": others.share()}
