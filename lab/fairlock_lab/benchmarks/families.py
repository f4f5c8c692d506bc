# SPDX-License-Identifier: Apache-2.0
"""Who takes a sample: ``fairlock_bench``, or a module of this package for what is not in it."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from fairlock_lab.benchmarks.results import Metrics, Plan, Point

# family -> the module that has it. Imported when it is asked for: it may need what is not installed.
ELSEWHERE: dict[str, str] = {
    "python": "fairlock_lab.benchmarks.python_types",
    "install": "fairlock_lab.benchmarks.ordinary_programs",
    "leveldb": "fairlock_lab.benchmarks.leveldb",
    "rocksdb": "fairlock_lab.benchmarks.rocksdb",
    "program": "fairlock_lab.benchmarks.compare_program",
}


class Family(Protocol):
    def missing(self, point: Point) -> str:
        """Return what is not there for such a point, and the remedy, in one line; empty if nothing."""

    def sample(self, point: Point, plan: Plan, seed: int) -> Metrics:
        """Measure once. Exceptions: SampleError of ``process``, UsageError for the user, KeyboardInterrupt."""


def family(name: str) -> Family:
    return cast(Family, import_module(ELSEWHERE.get(name, "fairlock_lab.benchmarks.native")))
