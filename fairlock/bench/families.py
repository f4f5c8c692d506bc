"""Who takes a sample: ``fairlock_bench``, or a module of this package for what is not in it."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from fairlock.bench.results import Metrics, Plan, Point

# family -> the module that has it. Imported when it is asked for: it may need what is not installed.
ELSEWHERE: dict[str, str] = {
    "python": "fairlock.bench.python",
    "install": "fairlock.bench.install",
    "leveldb": "fairlock.bench.leveldb",
    "rocksdb": "fairlock.bench.rocksdb",
    "program": "fairlock.bench.whole",
}


class Family(Protocol):
    def missing(self, point: Point) -> str:
        """Return what is not there for such a point, and the remedy, in one line; empty if nothing."""

    def sample(self, point: Point, plan: Plan, seed: int) -> Metrics:
        """Measure once. Exceptions: SampleError of ``process``, UsageError for the user, KeyboardInterrupt."""


def family(name: str) -> Family:
    return cast(Family, import_module(ELSEWHERE.get(name, "fairlock.bench.native")))
