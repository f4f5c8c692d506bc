# SPDX-License-Identifier: Apache-2.0
"""Subjects, which the checker can explore, and mutants, which it must find."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from fairlock.usage import one_of
from fairlock_lab import _native
from fairlock_lab.errors import ArgumentError, look_up

Memory = Literal["sc", "weak"]
MEMORIES: tuple[Memory, ...] = get_args(Memory)
SCENARIOS = _native.scenarios
SEQLOCK = "hapax-seqlock"  # its only scenario is `record`


@dataclass(frozen=True)
class Subject:
    """A lock, semaphore or condition, in one of its forms: ``twa``, ``twa+park``."""

    name: str
    algorithm: str
    variation: bool
    waiting_array: bool
    sleeping: bool
    max_threads: int | None
    scenarios: tuple[str, ...]


@dataclass(frozen=True)
class Mutant:
    """A lock with one planted bug. ``lock`` is the name of the subject, and ``what`` describes the bug."""

    name: str
    lock: str
    what: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def subjects() -> dict[str, Subject]:
    """Return every subject by its name."""
    return {row["name"]: Subject(**row | {"scenarios": tuple(row["scenarios"])}) for row in _native.subjects()}


def mutants() -> tuple[Mutant, ...]:
    """Return the mutants of all locks, semaphores and conditions."""
    return tuple(Mutant(**row) for row in _native.mutants())


def find_subjects(*names: str) -> list[Subject]:
    known = subjects()
    return [look_up("name", name, known) for name in names]


def find_mutant(name: str) -> Mutant:
    return look_up("mutant", name, {mutant.name: mutant for mutant in mutants()})


def find_mutants(*names: str) -> list[Mutant]:
    """Return the mutants with these names, and all mutants of the locks with these names."""
    known = mutants()
    chosen: dict[Mutant, None] = {}
    for name in names:
        matches = [mutant for mutant in known if name in (mutant.name, mutant.lock, mutant.lock.split("/")[0])]
        if not matches:
            raise ArgumentError(one_of("mutant", name, [mutant.name for mutant in known]))
        chosen |= dict.fromkeys(matches)
    return list(chosen)
