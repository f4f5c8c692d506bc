# SPDX-License-Identifier: Apache-2.0
"""Which lock is ahead at one number of threads, by how much, and whether chance may have decided."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairlock_lab.reports.data import NON_COMPETITORS, Group
from fairlock_lab.reports.measures import LEADING, MEASURES
from fairlock_lab.reports.noise import Interval, deviation, log_ratios, ratio_in_runs, typical

NEARLY = 1.02  # a smaller advantage is no reason to change a lock
USUAL = ("pthread-mutex", "sem_t")


@dataclass(frozen=True)
class Contest:
    """Locks that were measured in the same runs: the best one, and how many times better it is than each other."""

    measure: str
    best: str
    value: float  # its median
    ahead: Mapping[str, Interval]  # for each other lock, the nearest first

    @property
    def tied(self) -> list[str]:
        """The locks that may be as good, or nearly so."""
        return [label for label, interval in self.ahead.items() if interval.known and not interval.above(NEARLY)]

    @property
    def decided(self) -> bool:
        """Whether there were enough runs to decide."""
        return all(interval.known for interval in self.ahead.values())


def rank(values: Mapping[str, Mapping[int, float]], measure: str) -> Contest | None:
    """Compare locks by their values in each run."""
    more = MEASURES[measure].better == "more"
    known = {label: runs for label, runs in values.items() if runs and min(runs.values()) > 0}
    if not known:
        return None
    medians = {label: statistics.median(runs.values()) for label, runs in known.items()}
    order = sorted(known, key=lambda label: medians[label], reverse=more)
    best = order[0]
    pairs = {label: (known[best], known[label]) if more else (known[label], known[best]) for label in order[1:]}
    noise = typical(deviation(log_ratios(*pair)) for pair in pairs.values())
    ratios = {label: ratio_in_runs(*pair, noise) for label, pair in pairs.items()}
    ahead = {label: ratio for label, ratio in ratios.items() if ratio is not None}
    return Contest(measure, best, medians[best], ahead)


def leading(group: Group) -> str | None:
    """Return the measure that judges a group: its workload's, or else the first of LEADING that it has."""
    chosen = [group.known[0].y] if group.known else []
    return next((name for name in (*chosen, *LEADING) if name in MEASURES and group.has(name)), None)


def contest(group: Group, threads: int, kind: str = "lock") -> Contest | None:
    """Compare the locks of a group, or its semaphores, except for the non-competitors."""
    measure = leading(group)
    if measure is None:
        return None
    values = {
        group.labels[i]: group.in_runs(i, measure)
        for i in group.at(threads)
        if group.kind(i) == kind and group.points[i].lock not in NON_COMPETITORS
    }
    return rank(values, measure)


def usual_lock(labels: Iterable[str]) -> str | None:
    """Return the lock that a program uses unless it chooses another."""
    names = list(labels)
    return next((name for name in names if name in USUAL or name.startswith("threading.")), None)
