# SPDX-License-Identifier: Apache-2.0
"""Plain-text tables for the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def render(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    right: Iterable[str] = (),
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """Return a table with a rule under its header. The columns named in `right` are right-aligned.

    Each of the `groups` is a title above the header, and the number of columns that it spans.
    """
    lines = [list(header), *([show(cell) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    right_names = set(right)
    right_columns = {i for i, name in enumerate(header) if name in right_names}
    titles, first = [], 0
    for title, span in groups:
        width = sum(widths[first : first + span]) + 2 * (span - 1)
        widths[first] += max(len(title) - width, 0)
        titles.append(title.ljust(max(len(title), width)))
        first += span

    def join(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if i in right_columns else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    above = ["  ".join(titles).rstrip()] if titles else []
    return "\n".join([*above, join(lines[0]), "  ".join("-" * w for w in widths), *map(join, lines[1:])])


def show(cell: object) -> str:
    """Return the text of a cell: yes or no for a boolean, a dash for None."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell)
