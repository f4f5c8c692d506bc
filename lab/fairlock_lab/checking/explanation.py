# SPDX-License-Identifier: Apache-2.0
"""One lock's fields, step by step, while threads contend for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairlock_lab import _native, entries
from fairlock_lab.errors import look_up
from fairlock_lab.presentation import Table, Tabular, as_json

LEGEND = """\
B@x: thread B waits and watches x. A hapax is shown as block:number. A pointer is shown as the thread whose element it
points to."""


@dataclass(frozen=True)
class Moment:
    """The lock after an action, and the operations on shared memory that led there."""

    action: str
    owner: str  # a letter, or empty if no thread holds the lock
    waiting: tuple[tuple[str, str], ...]  # each waiter, and the word that it watches
    values: tuple[str, ...]  # of Explanation.fields
    operations: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return as_json(self)


@dataclass(frozen=True, repr=False)
class Explanation(Tabular):
    """The moments of one contended scenario. ``text(operations=True)`` also shows every operation on shared memory."""

    entry: entries.AlgorithmEntry
    fields: tuple[str, ...]
    moments: tuple[Moment, ...]

    def to_dict(self) -> dict[str, Any]:
        moments = [moment.to_dict() for moment in self.moments]
        return {"name": self.entry.name, "fields": list(self.fields), "moments": moments}

    def table(self) -> Table:
        rows = [
            [
                number,
                moment.action,
                moment.owner or "-",
                *moment.values,
                "  ".join(f"{thread}@{word}" for thread, word in moment.waiting),
            ]
            for number, moment in enumerate(self.moments, 1)
        ]
        return Table(["", "what happens", "owner", *self.fields, "waiting"], rows, right=[""])

    def text(self, *, operations: bool = False) -> str:
        """Return the table with the lock's order of admission and a legend."""
        head = [f"{self.entry.name}: {self.entry.source}", self.entry.order_of_admission()]
        if isinstance(self.entry, entries.LockEntry) and (platoon := self.entry.platoon):
            inner = f"a thread whose ticket is below grant + {platoon} goes on to the inner lock"
            head.append(f"platoons of {platoon}: {inner}")
        title, rule, *rows = str(self.table()).splitlines()
        lines = [title, rule]
        for row, moment in zip(rows, self.moments, strict=True):
            if operations:
                lines += [f"       {operation}" for operation in moment.operations]
            lines.append(row)
        return "\n".join([*head, "", *lines, "", LEGEND])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Explanation of {self.entry.name}: {len(self.moments)} moments>"


def explain(name: str) -> Explanation:
    """Run a contended scenario of a lock or semaphore, and return its fields at each step.

    Thread A enters, B and C arrive and wait, and each leaves in turn. Raise ArgumentError, a ValueError, if there is no
    lock or semaphore with this name.
    """
    catalogue = entries.catalogue(variations=True)
    explainable = {name: entry for name, entry in catalogue.items() if isinstance(entry, entries.AlgorithmEntry)}
    entry = look_up("name", name, explainable)
    story = _native.explain(name)
    moments = tuple(
        Moment(
            action=moment["action"],
            owner=moment["owner"],
            waiting=tuple((thread, word) for thread, word in moment["waiting"]),
            values=tuple(moment["values"]),
            operations=tuple(moment["operations"]),
        )
        for moment in story["moments"]
    )
    return Explanation(entry, tuple(story["fields"]), moments)
