"""Plain-text tables for the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def render(header: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[str] = ()) -> str:
    """Return a table with a line under its header; the columns named in `right` are right-aligned."""
    lines = [list(header), *([show(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    to_right = {header.index(name) for name in right}

    def join(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if i in to_right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([join(lines[0]), "  ".join("-" * w for w in widths), *map(join, lines[1:])])


def show(cell: object) -> str:
    """Return a cell's text: yes and no for booleans, a dash for nothing."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell)
