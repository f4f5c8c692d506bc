# SPDX-License-Identifier: Apache-2.0
"""Medians and quartiles, and ratios of samples that were taken in the same run.

A disturbance that slows the whole machine affects all samples of a run alike. So each run gives a ratio, and the figure
is the median of these ratios, with its quartiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairlock_lab.benchmarks.results import BenchResults, Metrics, Point, Sample

MOST_OTHER_WORK = 0.1  # share of the processors' time. A sample with more other work counts as disturbed


@dataclass(frozen=True)
class Figure:
    """A median, and the quartiles between which half of the runs lie."""

    median: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        ordered = sorted(values)
        return cls(quantile(ordered, 0.5), quantile(ordered, 0.25), quantile(ordered, 0.75), len(ordered))

    @property
    def spread(self) -> float:
        """The distance between the quartiles, as a share of the median."""
        return (self.high - self.low) / abs(self.median) if self.median else math.inf if self.high > self.low else 0.0

    def straddles(self, bound: float) -> bool:
        """Whether a bound lies between the quartiles, so that chance may decide on which side the median is."""
        return self.low < bound < self.high


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value at that share of the way through sorted values, which may be infinite."""
    index = share * (len(ordered) - 1)
    low, high = ordered[math.floor(index)], ordered[math.ceil(index)]
    return low if low == high else low + (high - low) * (index - math.floor(index))


def value_of(metrics: Metrics, measure: str) -> float | None:
    """Return one number of a sample, by name: ``throughput``, ``perf.cycles``, ``handover.p99`` (nanoseconds)."""
    if measure == "other_work":  # unknown for short runs of a program
        return float(metrics.get(measure) or 0.0)
    key, _, rest = measure.partition(".")
    value: Any = metrics.get(key)
    if rest and isinstance(value, Mapping):
        if rest.startswith("p") and "edges_ns" in value:
            return percentile(value, float(rest[1:]) / 100)
        value = value.get(rest)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf
    try:
        return float(value) if is_number else None
    except OverflowError:  # an integer of more than 300 digits
        return None


def percentile(histogram: Mapping[str, Any], share: float) -> float | None:
    """Return the value below which that share of a histogram lies, interpolated geometrically within a bucket."""
    edges, counts = histogram["edges_ns"], histogram["counts"]
    total = sum(counts)
    if not total:
        return None
    wanted, seen = share * total, 0.0
    for i, count in enumerate(counts):
        if count and seen + count >= wanted:
            low, high = max(edges[i], 0.5), max(edges[i + 1], 0.5) if i + 1 < len(edges) else 2 * edges[i]
            return float(low * (high / low) ** ((wanted - seen) / count))
        seen += count
    return float(edges[-1])


def is_undisturbed(sample: Sample) -> bool:
    """Whether other work took few of the processors' cycles during this sample."""
    return (value_of(sample.metrics, "other_work") or 0.0) <= MOST_OTHER_WORK


class Table:
    """The samples of one file, by point and run."""

    def __init__(self, results: BenchResults) -> None:
        self.results = results
        self.points = results.plan.points
        self._samples: dict[int, dict[int, Sample]] = {}
        for sample in results.samples:
            self._samples.setdefault(sample.point, {})[sample.run] = sample

    def samples(self, point: int) -> list[Sample]:
        return list(self._samples.get(point, {}).values())

    def find(self, **wanted: object) -> list[int]:
        """Return the points that have samples and these values. A tuple matches any of its values."""

        def fits(point: Point) -> bool:
            for key, value in wanted.items():
                have = getattr(point, key)
                if have not in value if isinstance(value, tuple) else have != value:
                    return False
            return True

        return [i for i, point in enumerate(self.points) if i in self._samples and fits(point)]

    def runs(self, *points: int) -> list[int]:
        """Return the runs that all of these points have; if possible, only the undisturbed ones."""
        by_point = [self._samples.get(point, {}) for point in points]
        runs = sorted(set(by_point[0]).intersection(*by_point[1:]))
        undisturbed = [run for run in runs if all(is_undisturbed(samples[run]) for samples in by_point)]
        return undisturbed or runs

    def disturbed(self, *points: int) -> bool:
        """Whether other work disturbed one of these points in every run."""
        runs = self.runs(*points)
        return bool(runs) and not all(is_undisturbed(self._samples[point][run]) for point in points for run in runs)

    def figure(self, point: int, measure: str) -> Figure | None:
        values = [value_of(self._samples[point][run].metrics, measure) for run in self.runs(point)]
        return figure(value for value in values if value is not None)

    def ratio(self, subject: int, reference: int, measure: str) -> Figure | None:
        """Return the ratio of two points, from the runs that both have."""
        ratios = []
        for run in self.runs(subject, reference):
            over = value_of(self._samples[subject][run].metrics, measure)
            under = value_of(self._samples[reference][run].metrics, measure)
            if over is not None and under is not None:
                ratios.append(over / under if under else math.inf if over else 1.0)
        return figure(ratios)


def figure(values: Iterable[float]) -> Figure | None:
    known = list(values)
    return Figure.of(known) if known else None
