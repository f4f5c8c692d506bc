# SPDX-License-Identifier: Apache-2.0
"""Pieces of HTML: escaped text, tables, lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from fairlock_lab.reports.style import Look

SYMBOLS = {  # as Vega draws them, about (0, 0)
    "circle": '<circle r="3.2"/>',
    "square": '<rect x="-2.9" y="-2.9" width="5.8" height="5.8"/>',
    "triangle-up": '<path d="M0-3.6 3.6 2.8H-3.6Z"/>',
    "triangle-down": '<path d="M0 3.6 3.6-2.8H-3.6Z"/>',
    "diamond": '<path d="M0-4 4 0 0 4-4 0Z"/>',
    "cross": '<path d="M-1.3-3.6h2.6v2.3h2.3v2.6h-2.3v2.3h-2.6v-2.3h-2.3v-2.6h2.3z"/>',
}


def rich(text: str) -> str:
    """Return text with **bold** and `code` as HTML."""
    safe = escape(text, quote=False)
    safe = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", safe)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", safe)


def swatch(look: Look) -> str:
    """Return a sample of the lock's line and symbol, in the colours of both themes."""
    dash = " ".join(f"{length:g}" for length in look.dash) if look.dash[1:] != (0,) else "none"
    symbol = SYMBOLS.get(look.shape) or f'<path transform="scale(3.4)" d="{look.shape}"/>'
    return (
        f'<svg class="swatch" style="--light:{look.light};--dark:{look.dark}" width="22" height="10" '
        'viewBox="-11 -5 22 10" aria-hidden="true">'
        f'<path d="M-11 0H11" stroke="currentColor" stroke-width="2" stroke-dasharray="{dash}"/>'
        f'<g fill="currentColor">{symbol}</g></svg>'
    )


def classes(*names: str) -> str:
    """Return a class attribute; nothing without names."""
    chosen = " ".join(filter(None, names))
    return f' class="{chosen}"' if chosen else ""


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Iterable[int] = (),
    kind: str = "",
    marks: Sequence[str] = (),
) -> str:
    """Return a table whose cells are HTML, and whose rows have these marks as classes. The first cell heads its row.

    Kinds: with `stack`, rows become blocks on a phone. With `lines`, each cell of a block is a line. `tight` is for
    short cells.
    """
    right = set(numbers)

    def cell(i: int, text: str) -> str:
        if i == 0:
            return f'<th scope="row">{text}</th>'
        head = f' data-head="{escape(heads[i])}"' if "stack" in kind else ""
        return f"<td{classes('number' if i in right else '')}{head}>{text}</td>"

    def line(number: int, row: Sequence[str]) -> str:
        inside = "".join(cell(i, text) for i, text in enumerate(row))
        return f"<tr{classes(marks[number] if marks else '')}>{inside}</tr>"

    head = "".join(
        f'<th scope="col"{classes("number" if i in right else "")}>{escape(text)}</th>' for i, text in enumerate(heads)
    )
    body = "\n".join(line(number, row) for number, row in enumerate(rows))
    return (
        f'<div class="scroll"><table{classes(kind)}><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'
    )


def facts(pairs: Mapping[str, object]) -> str:
    lines = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in pairs.items())
    return f"<dl>{lines}</dl>"


def unfoldable(summary: str, inside: str, identity: str = "") -> str:
    """Return a part that the reader can unfold."""
    name = f' id="{identity}"' if identity else ""
    return f'<details class="more"{name}><summary>{escape(summary)}</summary>{inside}</details>'


def pill(text: str, kind: str = "") -> str:
    return f'<span class="pill {kind}">{escape(text)}</span>'
