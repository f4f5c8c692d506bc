# SPDX-License-Identifier: Apache-2.0
"""How results are displayed: as a plain-text table in a terminal, and as an HTML table in a notebook."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from fairlock import table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class Table:
    """A header and rows. The columns that ``right`` names are right-aligned."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: Sequence[str] = ()

    def __str__(self) -> str:
        return table.render(self.header, self.rows, right=self.right)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(title)}</th>" for title in self.header)
        body = "\n".join(f"<tr>{''.join(map(self._html_cell, self.header, row))}</tr>" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"

    def _html_cell(self, title: str, cell: object) -> str:
        style = ' style="text-align: right"' if title in self.right else ""
        return f"<td{style}>{escape(table.show(cell))}</td>"


class Tabular(ABC):
    """A result that is displayed as a table."""

    @abstractmethod
    def table(self) -> Table:
        """Return the table."""

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def as_json(result: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a dataclass, with lists in place of tuples, as JSON has them."""
    row: dict[str, Any] = json.loads(json.dumps(asdict(result)))
    return row


def numbered(lines: Sequence[str], indent: str = "") -> list[str]:
    """Return the lines with their numbers, which are right-aligned."""
    width = len(str(len(lines)))
    return [f"{indent}{number:{width}}  {line}" for number, line in enumerate(lines, 1)]


def counted(number: int, noun: str) -> str:
    """Return the number with its noun: "1 run", "2 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
