# SPDX-License-Identifier: Apache-2.0
"""The locks, semaphores and references that a build of ``fairlock_bench`` can measure."""

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
    policies: tuple[str, ...] = ()  # waiting policies; empty: there is no choice
    forms: tuple[str, ...] = ()
    max_threads: int | None = None
    permits: bool = False  # whether it may have several

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "policies": list(self.policies), "forms": list(self.forms)}


@dataclass(frozen=True)
class Roster:
    compiler: str
    cpus: int
    policies: tuple[str, ...]
    families: tuple[str, ...]
    subjects: Mapping[str, Subject]
    most_threads: int = sys.maxsize
    missing: Mapping[str, str] = field(default_factory=dict)  # what the build lacks, and the remedy

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Roster:
        """Parse the output of ``fairlock_bench list``."""
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
