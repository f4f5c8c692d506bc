# SPDX-License-Identifier: Apache-2.0
"""The families of workloads: ``fairlock_bench`` takes the samples of most, and modules of this package the others."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from fairlock_lab.benchmarks.results import Metrics, Plan, Point

# The module of each family that the module native does not handle. It is imported on use, because it may need a
# library that is not installed.
FAMILY_MODULES: dict[str, str] = {
    "python": "fairlock_lab.benchmarks.python_types",
    "install": "fairlock_lab.benchmarks.ordinary_programs",
    "leveldb": "fairlock_lab.benchmarks.leveldb",
    "rocksdb": "fairlock_lab.benchmarks.rocksdb",
    "program": "fairlock_lab.benchmarks.compare_program",
}


class Family(Protocol):
    def missing(self, point: Point) -> str:
        """Return in one line what this machine lacks for the point, and the remedy. Empty if it lacks nothing."""

    def sample(self, point: Point, plan: Plan, seed: int) -> Metrics:
        """Take one sample. Raise SampleError if that fails, or UsageError if the user can fix the cause."""


def family(name: str) -> Family:
    return cast(Family, import_module(FAMILY_MODULES.get(name, "fairlock_lab.benchmarks.native")))
