# SPDX-License-Identifier: Apache-2.0
"""What a workload consists of: configs, and defaults for what to measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlock_lab.benchmarks.lock_sets import LOCK_REFERENCES, PAPER_LOCKS
from fairlock_lab.benchmarks.results import Option

# A number of threads: 4, "cpus", "4*cpus", "8 or cpus" (whichever is greater), or "..2*cpus" (1, 2, 4, ... up to that).
Count = int | str

LADDER: tuple[Count, ...] = ("..2*cpus",)


@dataclass(frozen=True)
class Config:
    """One way to run a workload."""

    title: str
    family: str = "contend"
    options: Mapping[str, Option] = field(default_factory=dict)
    locks: tuple[str, ...] = ()  # empty: the workload's
    forms: tuple[str, ...] = ("guard",)
    measures: tuple[str, ...] = ()  # empty: the workload's
    threads: tuple[Count, ...] = ()  # empty: the workload's
    subject: str | None = None  # what is measured, if the family has no choice of lock
    default: bool = True  # measured unless the user names configs


@dataclass(frozen=True)
class Workload:
    title: str
    paper: str  # with section and figure; empty: the workload is from no paper
    configs: Mapping[str, Config]
    locks: tuple[str, ...] = PAPER_LOCKS
    references: tuple[str, ...] = LOCK_REFERENCES
    waiting: tuple[str, ...] = ("spin",)
    paper_waiting: tuple[str, ...] = ()  # the policies of the paper, if they differ
    threads: tuple[Count, ...] = LADDER
    seconds: float = 1.0
    warm_up: float = 0.1
    runs: int = 5
    hogs: tuple[int, ...] = (0,)
    beside_hogs: float = 2.0  # how many times as long windows are beside hogs
    measures: tuple[str, ...] = ("throughput", "fairness")
    control: str | None = None  # the negative control: every run measures this lock, and must catch its breach
    y: str = "throughput"
    rivals: tuple[str, ...] = ("pthread-mutex", "pthread-mutex-pi", "ck-ticket", "sem_t")  # tables compare with these
    columns: Mapping[str, str] = field(default_factory=dict)  # options and their headings, in one table for all configs


# The options that `--set NAME=VALUE` accepts, and their values: one of these words, text, a number from 0, or yes/no.
OPTIONS: dict[str, tuple[str, ...] | type] = {
    "generator": ("mt19937", "xoroshiro128plus", "torture", "multiply-add", "delay", "none"),
    "critical": int,
    "critical-on": ("shared", "private"),
    "non-critical": int,
    "random": bool,
    "permits": int,
    "locks-held": int,
    "episodes": int,
    "timed": bool,
    "timed-apart": bool,
    "handover": bool,
    "migrations": bool,
    "registered-frames": bool,
    "entries": int,
    "db": str,
    "library": str,
    "full": bool,
}
