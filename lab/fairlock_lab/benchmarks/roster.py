# SPDX-License-Identifier: Apache-2.0
"""What can be measured with: the locks, semaphores and references that a build of ``fairlock_bench`` has."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Subject:
    name: str
    kind: str  # lock, semaphore or reference
    order: str | None
    policies: tuple[str, ...] = ()  # empty: it has no choice of waiting
    forms: tuple[str, ...] = ()
    max_threads: int | None = None
    permits: bool = False  # it may have several

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Roster:
    compiler: str
    cpus: int
    policies: tuple[str, ...]
    families: tuple[str, ...]
    subjects: Mapping[str, Subject]
    most_threads: int = sys.maxsize
    missing: Mapping[str, str] = field(default_factory=dict)  # what was not there at build time, and the remedy

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Roster:
        """Take what ``fairlock_bench list`` prints."""
        subjects = (
            Subject(
                row["name"],
                row["kind"],
                row.get("order"),
                tuple(row["policies"]),
                tuple(row["forms"]),
                row.get("max_threads"),
                row.get("permits", False),
            )
            for row in raw["subjects"]
        )
        return cls(
            compiler=raw["compiler"],
            cpus=raw["cpus"],
            policies=tuple(raw["policies"]),
            families=tuple(raw["families"]),
            subjects={subject.name: subject for subject in subjects},
            most_threads=raw.get("most_threads", sys.maxsize),
            missing=dict(raw["missing"]),
        )
