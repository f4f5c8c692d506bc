# SPDX-License-Identifier: Apache-2.0
"""Who is ahead at one number of threads, by how much, and whether chance may have decided."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairlock_lab.reports.data import NON_COMPETITORS, Group
from fairlock_lab.reports.measures import LEADING, MEASURES
from fairlock_lab.reports.noise import Interval, deviation, log_ratios, ratio_in_runs, typical

NEARLY = 1.02  # nobody should change a lock for less
REFERENCES = ("pthread-mutex", "sem_t")


@dataclass(frozen=True)
class Contest:
    """What took turns, best first, with how many times better the first is than each other."""

    measure: str
    best: str
    value: float  # its median
    ahead: Mapping[str, Interval]  # of the others, the nearest first

    @property
    def tied(self) -> list[str]:
        """Those that may be as good, or nearly so."""
        return [label for label, interval in self.ahead.items() if interval.known and not interval.above(NEARLY)]

    @property
    def decided(self) -> bool:
        """Whether there were runs enough to say anything."""
        return all(interval.known for interval in self.ahead.values())


def rank(values: Mapping[str, Mapping[int, float]], measure: str) -> Contest | None:
    """Compare what has these values in each run."""
    more = MEASURES[measure].better == "more"
    known = {label: runs for label, runs in values.items() if runs and min(runs.values()) > 0}
    if not known:
        return None
    medians = {label: statistics.median(runs.values()) for label, runs in known.items()}
    order = sorted(known, key=lambda label: medians[label], reverse=more)
    best = order[0]
    pairs = {label: (known[best], known[label]) if more else (known[label], known[best]) for label in order[1:]}
    noise = typical(deviation(log_ratios(*pair)) for pair in pairs.values())
    found = {label: ratio_in_runs(*pair, noise) for label, pair in pairs.items()}
    return Contest(measure, best, medians[best], {label: one for label, one in found.items() if one is not None})


def leading(group: Group) -> str | None:
    """Return what a group is judged by: what its workload says, or else the first of those that it has."""
    chosen = [group.known[0].y] if group.known else []
    return next((name for name in (*chosen, *LEADING) if name in MEASURES and group.has(name)), None)


def contest(group: Group, threads: int, kind: str = "lock") -> Contest | None:
    """Compare the locks of a group, or its semaphores, except for the non-competitors."""
    measure = leading(group)
    if measure is None:
        return None
    found = {
        group.labels[i]: group.in_runs(i, measure)
        for i in group.at(threads)
        if group.kind(i) == kind and group.points[i].lock not in NON_COMPETITORS
    }
    return rank(found, measure)


def reference(labels: Iterable[str]) -> str | None:
    """Return what a program would use if it did not choose."""
    names = list(labels)
    return next((name for name in names if name in REFERENCES or name.startswith("threading.")), None)
