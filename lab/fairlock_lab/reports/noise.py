# SPDX-License-Identifier: Apache-2.0
"""How far a ratio of measurements can be trusted: intervals by resampling the runs.

Few runs reveal little about their noise: three that agree by chance would look certain. So an interval is never
narrower than the typical noise of the neighbouring points, and a single run has no interval.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 499
SEED = 20190826  # constant, so that the same files give the same page
FEWEST_RUNS = 3  # fewer runs have no interval
NORMAL = statistics.NormalDist()
WIDTH = 2.5  # standard errors to each side, for the typical noise: about 95 % for a median of few values


@dataclass(frozen=True)
class Interval:
    """A value, and the interval that holds it in 95 of 100 repetitions of the measurement."""

    value: float
    low: float
    high: float
    runs: int  # of the side with fewer runs

    @property
    def known(self) -> bool:
        """Whether there were enough runs for an interval."""
        return self.runs >= FEWEST_RUNS

    def above(self, bound: float) -> bool:
        return self.known and self.low > bound

    def below(self, bound: float) -> bool:
        return self.known and self.high < bound

    def among(self, many: int, *, logarithmic: bool) -> Interval:
        """Return the interval, widened so that ``many`` such intervals all hold 95 times in 100."""
        factor = NORMAL.inv_cdf(1 - 0.025 / max(many, 1)) / NORMAL.inv_cdf(0.975)
        if logarithmic:
            low, high = (self.value * (end / self.value) ** factor for end in (self.low, self.high))
        else:
            low, high = (self.value + (end - self.value) * factor for end in (self.low, self.high))
        return Interval(self.value, low, high, self.runs)


def deviation(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def typical(deviations: Iterable[float | None]) -> float:
    """Return the median noise of the points."""
    known = [deviation for deviation in deviations if deviation is not None]
    return statistics.median(known) if known else 0.0


def logs(values: Iterable[float]) -> list[float]:
    return [math.log(value) for value in values if value > 0]


def ratio(new: Sequence[float], old: Sequence[float], noise: float = 0.0) -> Interval | None:
    """Return new / old. ``noise`` is the typical deviation of the logarithms."""
    over, under = logs(new), logs(old)
    if not over or not under:
        return None
    logarithm = _interval(_minus, [over, under], noise * math.sqrt(1 / len(over) + 1 / len(under)))
    return Interval(math.exp(logarithm.value), math.exp(logarithm.low), math.exp(logarithm.high), logarithm.runs)


def difference(new: Sequence[float], old: Sequence[float], noise: float = 0.0) -> Interval | None:
    """Return new - old. ``noise`` is the typical deviation."""
    if not new or not old:
        return None
    return _interval(_minus, [new, old], noise * math.sqrt(1 / len(new) + 1 / len(old)))


def ratio_in_runs(subject: Mapping[int, float], reference: Mapping[int, float], noise: float = 0.0) -> Interval | None:
    """Return subject / reference for points of the same runs: a disturbance of a whole run cancels out in its ratio."""
    ratios = log_ratios(subject, reference)
    if not ratios:
        return None
    interval = _interval(lambda medians: medians[0], [ratios], noise / math.sqrt(len(ratios)))
    return Interval(math.exp(interval.value), math.exp(interval.low), math.exp(interval.high), interval.runs)


def log_ratios(subject: Mapping[int, float], reference: Mapping[int, float]) -> list[float]:
    pairs = [(subject[run], reference[run]) for run in sorted(subject) if run in reference]
    return [math.log(a / b) for a, b in pairs if a > 0 and b > 0]


def median(values: Sequence[float]) -> float:
    """Return the median, in a third of the time of statistics.median."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _minus(medians: Sequence[float]) -> float:
    return medians[0] - medians[1]


def _interval(of: Callable[[Sequence[float]], float], sides: Sequence[Sequence[float]], error: float) -> Interval:
    value = of([median(side) for side in sides])
    dice = random.Random(SEED)

    def resample() -> float:
        # One run fewer than there are: with few runs, full resamples make an interval too narrow.
        return of([median(dice.choices(side, k=max(len(side) - 1, 1))) for side in sides])

    values = sorted(resample() for _ in range(RESAMPLES))
    cut = round(0.025 * RESAMPLES)
    low, high = min(values[cut], value - WIDTH * error), max(values[-1 - cut], value + WIDTH * error)
    return Interval(value, low, high, min(len(side) for side in sides))
