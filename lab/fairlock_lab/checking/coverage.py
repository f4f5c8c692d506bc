# SPDX-License-Identifier: Apache-2.0
"""The table of ``fairlock check --coverage``: the explored bounds, and the runs that are incomplete or violated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairlock import table

# The explored bounds as text, by scenario and memory model.
Cells = dict[tuple[str, str], str]


def render(rows: Iterable[Mapping[str, object]]) -> str:
    """Return the table for these rows of `fairlock check --json`. Scenarios with the same bounds share a line."""
    rows_by_name: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        rows_by_name.setdefault(str(row["name"]), []).append(row)
    lines = []
    for name, runs in rows_by_name.items():
        cells = cells_of(runs)
        scenarios_by_bounds: dict[tuple[str, str], list[str]] = {}
        for scenario in dict.fromkeys(str(row["scenario"]) for row in runs):
            bounds = (cells.get((scenario, "sc"), "-"), cells.get((scenario, "weak"), "-"))
            scenarios_by_bounds.setdefault(bounds, []).append(scenario)
        for number, ((sc, weak), scenarios) in enumerate(scenarios_by_bounds.items()):
            lines.append([name if number == 0 else "", " ".join(scenarios), sc, weak])
    return table.render(["name", "scenarios", "sequentially consistent", "weak memory"], lines)


def cells_of(runs: Iterable[Mapping[str, object]]) -> Cells:
    """Return the bounds of one subject's runs, by scenario and memory model."""
    explored: dict[tuple[str, str], dict[str, list[Mapping[str, object]]]] = {}
    for row in runs:
        size = f"{row['threads']}x{row['episodes']}"
        explored.setdefault((str(row["scenario"]), str(row["memory"])), {}).setdefault(size, []).append(row)
    return {key: cell(sizes) for key, sizes in explored.items()}


def cell(sizes: Mapping[str, list[Mapping[str, object]]]) -> str:
    """Return "2x2 3x1 /1,2,4; 4x1 /1": threads x episodes, and the sizes of the waiting array."""
    by_slots: dict[str, list[str]] = {}
    for size, rows in sizes.items():
        slots = ",".join(str(row["slots"]) for row in rows)
        by_slots.setdefault(slots, []).append(size + mark(rows))
    return "; ".join(" ".join(group) + ("" if slots == "1" else f" /{slots}") for slots, group in by_slots.items())


def mark(rows: Iterable[Mapping[str, object]]) -> str:
    """Return the mark that follows a size in the table, empty if all its runs are complete and hold."""
    if any(row["verdict"] == "violated" for row in rows):
        return " VIOLATED"
    return "" if all(row["complete"] and row["verdict"] == "holds" for row in rows) else " INCOMPLETE"
