"""LevelDB's ``readrandom``: ``fairlock_bench`` reads, from a database that is filled once for all samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fairlock.bench import native
from fairlock.bench.programs import filled, shelf
from fairlock.bench.results import Metrics, Option, Plan, Point

FILLING = 600.0  # seconds that it may take


def missing(point: Point) -> str:
    """Return nothing: the program itself says which package it lacks, when it is to fill the database."""
    return ""


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Measure once. A database that the user named stays for the next time."""
    library = {name: value for name, value in point.options.items() if name == "library"}
    entries = point.options["entries"]
    folder = Path(str(point.options.get("db", shelf() / f"leveldb-{entries}")))

    def fill(part: Path) -> None:
        given: dict[str, Option] = {**library, "entries": entries, "db": str(part), "fill": True}
        native.run(point, [point.family, *native.options(given)], FILLING)

    options = {**point.options, "db": str(filled(folder, fill))}
    return native.sample(replace(point, options=options), plan, seed)
