# SPDX-License-Identifier: Apache-2.0
"""LevelDB's ``readrandom``: ``fairlock_bench`` reads from a database that is filled once for all samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fairlock.usage import UsageError
from fairlock_lab.benchmarks import native
from fairlock_lab.benchmarks.process import GRACE
from fairlock_lab.benchmarks.programs import database_folder, filled_database
from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point

FILLING = 600.0  # seconds that filling a database may take


def missing(point: Point) -> str:
    """Return the error of the program if it does not find the library; it names the package."""
    try:
        native.run(point, [point.family, *native.options({**library(point), "version": True})], GRACE)
    except UsageError as error:
        return str(error)
    return ""


def library(point: Point) -> dict[str, Option]:
    return {name: value for name, value in point.options.items() if name == "library"}


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample. A database that the user named is kept for the next one."""
    entries = point.options["entries"]
    folder = Path(str(point.options.get("db", database_folder() / f"leveldb-{entries}")))

    def fill(part: Path) -> None:
        given: dict[str, Option] = {**library(point), "entries": entries, "db": str(part), "fill": True}
        native.run(point, [point.family, *native.options(given)], FILLING)

    options = {**point.options, "db": str(filled_database(folder, fill))}
    return native.sample(replace(point, options=options), plan, seed)
