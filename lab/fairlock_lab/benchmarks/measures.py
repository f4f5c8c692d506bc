# SPDX-License-Identifier: Apache-2.0
"""The measures of a sample: their titles and units, and whether more or less is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Measure:
    title: str
    better: Literal["more", "less", ""] = ""
    unit: float = 1.0  # tables show a figure divided by this
    short: str = ""  # heads a column

    @property
    def scales(self) -> bool:
        """Whether a ratio of two figures means something."""
        return bool(self.better) and self.short not in ("slowest/fastest", "Jain")

    @property
    def head(self) -> str:
        return self.short or self.title

    def show(self, value: float) -> str:
        return number(value / self.unit)


MEASURES: dict[str, Measure] = {
    "throughput": Measure("million episodes per second", "more", 1e6, "M/s"),
    "fairness": Measure("slowest thread's episodes / fastest thread's", "more", short="slowest/fastest"),
    "jain": Measure("Jain's index of fairness", "more", short="Jain"),
    "longest_wait": Measure("longest wait, ms", "less", 1e-3),
    "processors": Measure("processors kept busy", short="processors"),
    "ns": Measure("nanoseconds for an acquire and its release", "less", short="ns"),
    "migrations": Measure("hand-overs to another thread, per episode", short="migrations"),
    "handover.p50": Measure("hand-over, ns: half take at most this", "less", short="hand-over p50, ns"),
    "handover.p99": Measure("hand-over, ns: 99 of 100 take at most this", "less", short="p99, ns"),
    "waits.p50": Measure("wait, ns: half take at most this", "less", short="wait p50, ns"),
    "waits.p99": Measure("wait, ns: 99 of 100 take at most this", "less", short="p99, ns"),
    "perf.cycles": Measure("cycles per episode", "less", short="cycles"),
    "perf.instructions": Measure("instructions per episode", "less", short="instructions"),
    "perf.cache_misses": Measure("cache misses per episode", "less", short="cache misses"),
    "mutexes_per_episode": Measure("mutexes that an episode acquires", short="mutexes"),
    "context_switches": Measure("context switches", "less"),
    "phases": Measure("phases per second", "more"),
    "score": Measure("the figure that the program prints, more is better", "more", short="score"),
    "cost": Measure("the figure that the program prints, less is better", "less", short="cost"),
    "wall": Measure("seconds from start to end", "less", short="wall, s"),
    "user": Measure("seconds of processor time, in the program", "less", short="user, s"),
    "system": Measure("seconds of processor time, in the kernel", "less", short="system, s"),
    "max_rss": Measure("peak memory, MiB", "less", 2**20, "MiB"),
    "voluntary_switches": Measure("context switches because a thread waited", "less", short="switches: voluntary"),
    "involuntary_switches": Measure("context switches because another thread was due", "less", short="involuntary"),
}


def measure(name: str) -> Measure:
    return MEASURES.get(name) or Measure(name)


def number(value: float) -> str:
    """Return a number with three or four significant digits."""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return (
        f"{value:.0f}"
        if size >= 100
        else f"{value:.1f}"
        if size >= 10
        else f"{value:.2f}"
        if size >= 0.1
        else f"{value:.3g}"
    )
