# SPDX-License-Identifier: Apache-2.0
"""The table of coverage: the explored bounds, and the runs that are incomplete or violated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairlock_lab.presentation import Table, Tabular

if TYPE_CHECKING:
    from fairlock_lab.checking.results import RunResult

# The explored bounds as text, by scenario and memory model.
Cells = dict[tuple[str, str], str]


@dataclass(frozen=True)
class Coverage(Tabular):
    """The explored bounds of each subject, by scenario. Scenarios with the same bounds share a line of the table."""

    results: tuple[RunResult, ...]

    def to_dict(self) -> dict[str, Any]:
        table = self.table()
        return {"columns": table.header, "rows": table.rows}

    def table(self) -> Table:
        results_by_name: dict[str, list[RunResult]] = {}
        for result in self.results:
            results_by_name.setdefault(result.run.name, []).append(result)
        rows = [row for name, results in results_by_name.items() for row in rows_of(name, results)]
        return Table(["name", "scenarios", "sequentially consistent", "weak memory"], rows)


def rows_of(name: str, results: Sequence[RunResult]) -> Iterator[list[str]]:
    """Yield the rows of one subject. Only the first row has its name."""
    cells = cells_of(results)
    scenarios_by_bounds: dict[tuple[str, str], list[str]] = {}
    for scenario in dict.fromkeys(result.run.scenario for result in results):
        bounds = (cells.get((scenario, "sc"), "-"), cells.get((scenario, "weak"), "-"))
        scenarios_by_bounds.setdefault(bounds, []).append(scenario)
    for number, ((sc, weak), scenarios) in enumerate(scenarios_by_bounds.items()):
        yield [name if number == 0 else "", " ".join(scenarios), sc, weak]


def cells_of(results: Iterable[RunResult]) -> Cells:
    """Return the bounds of one subject's runs, by scenario and memory model."""
    explored: dict[tuple[str, str], dict[str, list[RunResult]]] = {}
    for result in results:
        run = result.run
        explored.setdefault((run.scenario, run.memory), {}).setdefault(run.size, []).append(result)
    return {key: cell(by_size) for key, by_size in explored.items()}


def cell(results_by_size: Mapping[str, list[RunResult]]) -> str:
    """Return "2x2 3x1 /1,2,4; 4x1 /1": threads x episodes, and the sizes of the waiting array."""
    sizes_by_slots: dict[str, list[str]] = {}
    for size, results in results_by_size.items():
        slots = ",".join(str(result.run.slots) for result in results)
        sizes_by_slots.setdefault(slots, []).append(size + mark(results))
    return "; ".join(
        " ".join(sizes) + ("" if slots == "1" else f" /{slots}") for slots, sizes in sizes_by_slots.items()
    )


def mark(results: Iterable[RunResult]) -> str:
    """Return the mark that follows a size in the table. It is empty if all runs of this size are complete and hold."""
    if any(result.verdict == "violated" for result in results):
        return " VIOLATED"
    return "" if all(result.complete and result.verdict == "holds" for result in results) else " INCOMPLETE"
