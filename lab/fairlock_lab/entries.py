# SPDX-License-Identifier: Apache-2.0
"""The catalogue: every lock, semaphore and condition, with its properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fairlock import table
from fairlock.usage import one_of
from fairlock_lab import _native
from fairlock_lab.errors import look_up
from fairlock_lab.presentation import Table, Tabular

# Every order of admission, with its meaning.
ORDERS = {
    "fifo": "no later arrival enters before a waiter",
    "bounded": "bypasses of a waiter by each other thread: at most {bypass}",
    "at-head": "newcomers that enter before the first waiter in line: at most {bypass} in all",
    "while-saturated": "newcomers that enter before the first waiter in line: at most {bypass} in all, while the lock "
    "is saturated",
    "barging": "a thread that finds the lock free takes it: no bound on bypass",
    "lifo": "the newest waiter enters first: no bound on bypass",
    "platoon": "later arrivals that enter before a waiter: at most {bypass} in all",
    "long-term": "fair in the long run, by chance: no bound on a single wait",
}

# For each kind, the properties in its table, with the titles of their columns. A title that ends in B is a size.
COLUMNS = {
    "lock": {
        "name": "lock",
        "order": "order",
        "spinning": "spins",
        "constant_time_release": "O(1) release",
        "context_free": "context-free",
        "try_lock": "try",
        "thread_oblivious": "any thread releases",
        "parkable": "may sleep",
        "abandonable": "may leave",
        "waiting_array": "array",
        "dynamic_memory": "allocates",
        "nodes_circulate": "nodes circulate",
        "preloadable": "preloadable",
        "lock_bytes": "lock B",
        "episode_bytes": "episode B",
        "mutex_bytes": "mutex B",
    },
    "semaphore": {
        "name": "semaphore",
        "order": "order",
        "spinning": "spins",
        "waiting_array": "array",
        "destroyable_by_next_owner": "destroyable at once",
        "semaphore_bytes": "B",
    },
    "condition": {
        "name": "condition",
        "order": "order",
        "spinning": "spins",
        "over": "works with",
        "destroyable_when_notified": "destroyable when notified",
        "condition_bytes": "B",
    },
}

LEGEND = """\
order: platoon bounds how many later arrivals bypass a waiter in all; long-term is fair by chance, without a bound.
spins: the word that waiters watch. Its home is L(ocal) or U(nknown), and it is P(rivate), S(emi-private) or G(lobal).
Sizes (B) are in bytes, on this machine."""


@dataclass(frozen=True, kw_only=True)
class Entry(Tabular):
    """An entry of the catalogue: what all kinds have in common."""

    kind: Literal["lock", "semaphore", "condition"]
    name: str
    variation: bool
    source: str
    spinning: str
    order: str  # a key of ORDERS
    bypass: int | None = None

    def order_of_admission(self) -> str:
        """Return the order with its meaning: "fifo: no later arrival enters before a waiter"."""
        return f"{self.order}: {ORDERS[self.order].format(bypass=self.bypass)}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def table(self) -> Table:
        properties = self.to_dict() | {"order": self.order_of_admission()}
        return Table(["property", "value"], [(key.replace("_", " "), value) for key, value in properties.items()])

    def __str__(self) -> str:
        rows = self.table().rows
        width = max(len(str(key)) for key, _ in rows)
        return "\n".join(f"{key:{width}}  {table.show(value)}" for key, value in rows)


@dataclass(frozen=True, kw_only=True)
class AlgorithmEntry(Entry):
    """A lock or a semaphore."""

    algorithm: str
    waiting_array: bool
    parkable: bool
    abandonable: bool
    destroyable_by_next_owner: bool
    max_threads: int | None
    space: str


@dataclass(frozen=True, kw_only=True)
class LockEntry(AlgorithmEntry):
    """A lock. The last three fields are figures of the Hapax paper, as printed there."""

    platoon: int | None
    constant_time_release: bool
    context_free: bool
    on_stack: bool
    nodes_circulate: bool
    constructor_or_destructor: bool
    thread_exit_work: bool
    dynamic_memory: bool
    try_lock: bool
    thread_oblivious: bool
    preloadable: bool
    lock_bytes: int
    episode_bytes: int
    mutex_bytes: int
    paper_branches: str
    paper_misses: str
    paper_invalidations: str


@dataclass(frozen=True, kw_only=True)
class SemaphoreEntry(AlgorithmEntry):
    semaphore_bytes: int


@dataclass(frozen=True, kw_only=True)
class ConditionEntry(Entry):
    over: str  # the locks that the condition works with
    destroyable_when_notified: bool
    condition_bytes: int


@dataclass(frozen=True, repr=False)
class Catalogue(Mapping[str, Entry]):
    """Entries by name."""

    entries: tuple[Entry, ...]

    def __getitem__(self, name: str) -> Entry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(one_of("name", name, self))

    def __iter__(self) -> Iterator[str]:
        return (entry.name for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def to_dict(self) -> dict[str, Any]:
        return {entry.name: entry.to_dict() for entry in self.entries}

    def tables(self) -> list[Table]:
        """Return a table for each kind of entry."""
        tables = []
        for kind, columns in COLUMNS.items():
            titles = list(columns.values())
            rows = [[getattr(entry, key) for key in columns] for entry in self.entries if entry.kind == kind]
            if rows:
                tables.append(Table(titles, rows, right=[title for title in titles if title.split()[-1] == "B"]))
        return tables

    def __repr__(self) -> str:
        return f"<Catalogue: {', '.join(self)}>"

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.tables()), LEGEND])

    def _repr_html_(self) -> str:
        return "\n".join(table._repr_html_() for table in self.tables())


def catalogue(*names: str, variations: bool = False) -> Catalogue:
    """Return the entries with these names, or else all entries.

    The variations have names of their own, such as ``hapax-vw/two-stage``. Some are options that the papers mention,
    and others are ours. Without names, ``variations`` includes them. Raise ArgumentError, a ValueError, if there is no
    entry with one of the names.
    """
    entries: list[Entry] = [LockEntry(**properties) for properties in _native.locks()]
    entries += [SemaphoreEntry(**properties) for properties in _native.semaphores()]
    entries += [ConditionEntry(**properties) for properties in _native.conditions()]
    if not names:
        return Catalogue(tuple(entry for entry in entries if variations or not entry.variation))
    by_name = {entry.name: entry for entry in entries}
    return Catalogue(tuple(look_up("name", name, by_name) for name in names))
