# SPDX-License-Identifier: Apache-2.0
"""The measures as the page shows them: their titles, number formats and scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairlock_lab.benchmarks import measures

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def si(value: float, digits: int = 3) -> str:
    """Return a number with an SI prefix: 12.3M, 456k, 0."""
    if not value:
        return "0"
    scale, prefix = next(((s, p) for s, p in PREFIXES if abs(value) >= s), PREFIXES[-1])
    short = f"{value / scale:.{digits}g}"
    if "e" in short and abs(value) < 1e12:  # 999.7 with three digits
        return si(float(f"{value:.{digits}g}"), digits)
    return short + prefix


def nanoseconds(value: float) -> str:
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} ns"


@dataclass(frozen=True)
class Measure:
    name: str
    title: str
    axis: str
    written: Literal["si", "share", "seconds", "ns", "plain"]
    scale: Literal["paper", "share", "log", "zero"]  # paper: like the figure in the paper

    @property
    def better(self) -> Literal["more", "less", ""]:
        return measures.measure(self.name).better

    @property
    def tick(self) -> str:
        """The number format of an axis, for d3-format."""
        return "~s" if self.written == "si" else "~g"

    def write(self, value: float) -> str:
        match self.written:
            case "si":
                return si(value)
            case "share":
                return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
            case "seconds":
                return nanoseconds(value * 1e9)
            case "ns":
                return nanoseconds(value)
            case "plain":
                return f"{value:.3g}"


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("throughput", "Throughput", "episodes per second", "si", "paper"),
        Measure("phases", "Phases", "phases per second", "si", "paper"),
        Measure("ns", "Uncontended", "nanoseconds for an acquire and its release", "ns", "zero"),
        Measure("fairness", "Fairness", "slowest thread / fastest", "share", "share"),
        Measure("jain", "Jain's index", "1: all threads got equal turns", "share", "share"),
        Measure("longest_wait", "Longest wait", "longest wait of any thread", "seconds", "log"),
        Measure("processors", "Processors", "processors kept busy", "plain", "zero"),
        Measure("handover.p50", "Hand-over, median", "from release to the next entry", "ns", "log"),
        Measure("handover.p99", "Hand-over, 99th percentile", "from release to the next entry", "ns", "log"),
        Measure("migrations", "Migrations", "hand-overs to another thread, per episode", "share", "share"),
        Measure("mutexes_per_episode", "Mutexes", "mutexes that an episode acquires", "plain", "zero"),
        Measure("perf.cycles", "Cycles", "processor cycles per episode", "plain", "paper"),
        Measure("perf.instructions", "Instructions", "instructions per episode", "plain", "paper"),
        Measure("perf.cache_misses", "Cache misses", "cache misses per episode", "plain", "zero"),
        Measure("score", "Score", "the figure that the program prints, more is better", "si", "zero"),
        Measure("cost", "Cost", "the figure that the program prints, less is better", "si", "zero"),
        Measure("wall", "Wall time", "from the start of the program to its end", "seconds", "zero"),
        Measure("user", "User time", "processor time in the program", "seconds", "zero"),
        Measure("system", "System time", "processor time in the kernel", "seconds", "zero"),
        Measure("max_rss", "Memory", "bytes in use, at most", "si", "zero"),
        Measure("voluntary_switches", "Voluntary switches", "context switches because a thread waited", "si", "zero"),
        Measure(
            "involuntary_switches",
            "Involuntary switches",
            "context switches because another thread was due",
            "si",
            "zero",
        ),
    )
}

# The measure that judges a group, unless its workload names another: the first of these that it has.
LEADING = ("phases", "throughput", "ns", "score", "cost", "wall")
