# SPDX-License-Identifier: Apache-2.0
"""How far a ratio of measurements can be trusted: intervals by resampling the runs.

Few runs say little of their own noise: three that agree by chance would look certain. So an interval is never narrower
than the noise that is typical of the points beside it, and one run has no interval at all.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 499
SEED = 20190826  # any: the same files give the same page
FEWEST_RUNS = 3  # with less, nothing is said of chance
NORMAL = statistics.NormalDist()
WIDTH = 2.5  # standard errors to each side, for the typical noise: about 95 % for a median of few


@dataclass(frozen=True)
class Interval:
    """A value, and where it lies in 95 of 100 repetitions of the measurement."""

    value: float
    low: float
    high: float
    runs: int  # of the side that has fewer

    @property
    def known(self) -> bool:
        """Whether there were enough runs to speak of an interval."""
        return self.runs >= FEWEST_RUNS

    def above(self, bound: float) -> bool:
        return self.known and self.low > bound

    def below(self, bound: float) -> bool:
        return self.known and self.high < bound

    def among(self, many: int, *, logarithmic: bool) -> Interval:
        """Return it so wide that so many intervals all hold, 95 times of 100: among many, some differ by chance."""
        factor = NORMAL.inv_cdf(1 - 0.025 / max(many, 1)) / NORMAL.inv_cdf(0.975)
        if logarithmic:
            low, high = (self.value * (end / self.value) ** factor for end in (self.low, self.high))
        else:
            low, high = (self.value + (end - self.value) * factor for end in (self.low, self.high))
        return Interval(self.value, low, high, self.runs)


def deviation(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None


def typical(deviations: Iterable[float | None]) -> float:
    """Return the noise that half of the points exceed."""
    known = [one for one in deviations if one is not None]
    return statistics.median(known) if known else 0.0


def logs(values: Iterable[float]) -> list[float]:
    return [math.log(value) for value in values if value > 0]


def ratio(new: Sequence[float], old: Sequence[float], noise: float = 0.0) -> Interval | None:
    """Return how many times as much the one has as the other; `noise`: the typical deviation of the logarithms."""
    over, under = logs(new), logs(old)
    if not over or not under:
        return None
    found = _interval(_minus, [over, under], noise * math.sqrt(1 / len(over) + 1 / len(under)))
    return Interval(math.exp(found.value), math.exp(found.low), math.exp(found.high), found.runs)


def difference(new: Sequence[float], old: Sequence[float], noise: float = 0.0) -> Interval | None:
    """Return how much more the one has than the other; `noise`: the typical deviation."""
    if not new or not old:
        return None
    return _interval(_minus, [new, old], noise * math.sqrt(1 / len(new) + 1 / len(old)))


def ratio_in_runs(mine: Mapping[int, float], theirs: Mapping[int, float], noise: float = 0.0) -> Interval | None:
    """Return the same for two that took turns: each run gives a ratio, and what slows a whole run down cancels out."""
    found = log_ratios(mine, theirs)
    if not found:
        return None
    inside = _interval(lambda medians: medians[0], [found], noise / math.sqrt(len(found)))
    return Interval(math.exp(inside.value), math.exp(inside.low), math.exp(inside.high), inside.runs)


def log_ratios(mine: Mapping[int, float], theirs: Mapping[int, float]) -> list[float]:
    pairs = [(mine[run], theirs[run]) for run in sorted(mine) if run in theirs]
    return [math.log(a / b) for a, b in pairs if a > 0 and b > 0]


def median(values: Sequence[float]) -> float:
    """Return what statistics.median does, in a third of the time."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _minus(medians: Sequence[float]) -> float:
    return medians[0] - medians[1]


def _interval(of: Callable[[Sequence[float]], float], sides: Sequence[Sequence[float]], error: float) -> Interval:
    value = of([median(side) for side in sides])
    dice = random.Random(SEED)

    def again() -> float:
        # One less than there are: with few runs, as many would come out too narrow.
        return of([median(dice.choices(side, k=max(len(side) - 1, 1))) for side in sides])

    found = sorted(again() for _ in range(RESAMPLES))
    cut = round(0.025 * RESAMPLES)
    low, high = min(found[cut], value - WIDTH * error), max(found[-1 - cut], value + WIDTH * error)
    return Interval(value, low, high, min(len(side) for side in sides))
