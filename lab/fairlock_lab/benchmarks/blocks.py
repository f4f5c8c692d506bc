# SPDX-License-Identifier: Apache-2.0
"""Results in words and tables, which become plain text, or HTML for a notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from fairlock import table

WIDTH = 118  # of a paragraph


@dataclass(frozen=True)
class Grid:
    """A table with a caption above it. ``right`` names the columns to align on the right; ``groups``: table.render."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: Sequence[str] = ()
    groups: Sequence[tuple[str, int]] = ()
    caption: str = ""

    def text(self) -> str:
        lines = table.render(self.header, self.rows, self.right, self.groups)
        return f"{self.caption}\n{lines}" if self.caption else lines

    def html(self) -> str:
        above = "".join(f'<th colspan="{span}">{escape(title)}</th>' for title, span in self.groups)
        heads = "".join(f"<th>{escape(head)}</th>" for head in self.header)
        to_right = {i for i, head in enumerate(self.header) if head in self.right}
        body = "".join(
            f"<tr>{''.join(cell(value, right=i in to_right) for i, value in enumerate(row))}</tr>" for row in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        head = f"<thead>{f'<tr>{above}</tr>' if above else ''}<tr>{heads}</tr></thead>"
        return f"<table>{caption}{head}<tbody>{body}</tbody></table>"


def cell(value: object, *, right: bool) -> str:
    style = ' style="text-align: right"' if right else ""
    return f"<td{style}>{escape(table.show(value))}</td>"


Block = str | Grid


def paragraph(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def to_text(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block if isinstance(block, str) else block.text() for block in blocks)


def to_html(blocks: Iterable[Block]) -> str:
    parts = (f"<pre>{escape(block)}</pre>" if isinstance(block, str) else block.html() for block in blocks)
    return "\n".join(parts)
