# SPDX-License-Identifier: Apache-2.0
"""The function behind ``fairlock report``.

>>> report(results, out="report.html")
>>> print(report(["old.json", "new.json"], figures="figures"))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from fairlock.usage import UsageError
from fairlock_lab.benchmarks.output_files import check_page, make_folder, write
from fairlock_lab.benchmarks.results import BenchResults
from fairlock_lab.errors import ArgumentError, file_at
from fairlock_lab.reports import changes, compare, style
from fairlock_lab.reports.advice import Advice, advice
from fairlock_lab.reports.data import Source, groups_of
from fairlock_lab.reports.figures import drawings, for_file
from fairlock_lab.reports.page import page
from fairlock_lab.reports.parts import Drawing
from fairlock_lab.reports.words import counted

Results = BenchResults | str | Path  # samples, or the file that has them


class MissingError(UsageError, ImportError):
    """The library that draws the figures is not installed."""


@dataclass(frozen=True, repr=False)
class Report:
    """A page of results, which a notebook can display."""

    sources: Sequence[Source]
    page: str  # complete HTML
    advice: Sequence[Advice]
    comparison: compare.Comparison | None  # of two files that have points in common
    figures: Sequence[Drawing]

    def to_dict(self) -> dict[str, Any]:
        """Return what the page says, as JSON can express it: advice, changes, and the figures' specifications."""
        changed = self.comparison.changes if self.comparison is not None else ()
        return {
            "files": [str(source.path) for source in self.sources],
            "advice": [vars(piece) for piece in self.advice],
            "changes": [
                {
                    "point": str(change.point),
                    "measure": change.measure,
                    "old": change.old,
                    "new": change.new,
                    "change": change.by.value,
                    "interval": [change.by.low, change.by.high] if change.by.known else None,
                    "verdict": change.verdict,
                }
                for change in changed
            ],
            "figures": {drawing.name: drawing.spec for drawing in self.figures},
        }

    def __str__(self) -> str:
        """Return what ``fairlock report`` prints: the advice, or what changed between two files."""
        if self.comparison is not None:
            return compare.show(self.comparison)
        return "\n".join(piece.text.replace("**", "") for piece in self.advice)

    def __repr__(self) -> str:
        files = ", ".join(str(source.path) for source in self.sources)
        return f"<Report of {files}: {counted(len(self.figures), 'figure')}>"

    def _repr_html_(self) -> str:
        frame = 'style="width: 100%; height: 900px; border: 0"'
        return f'<iframe {frame} srcdoc="{escape(self.page)}"></iframe>'

    def save(self, out: Path) -> None:
        """Write the page."""
        write(out, self.page.encode(errors="backslashreplace"))

    def save_figures(self, folder: Path) -> None:
        """Write each figure as SVG and as PNG."""
        draw = drawing_library()
        make_folder(folder)
        for figure in self.figures:
            spec = for_file(figure)
            write(folder / f"{figure.name}.svg", str(draw.vegalite_to_svg(spec, config=style.LIGHT)))
            write(folder / f"{figure.name}.png", bytes(draw.vegalite_to_png(spec, config=style.LIGHT, scale=2)))


def report(
    results: Results | Iterable[Results], *, out: str | Path | None = None, figures: str | Path | None = None
) -> Report:
    """Make a page of results, and of what changed if these are two files, old and new, of the same workload.

    ``out`` names the file of the page, and ``figures`` a folder for each figure as SVG and PNG. Raise ArgumentError if
    a file cannot be read or written, or has no samples.
    """
    items = list(results) if isinstance(results, Iterable) and not isinstance(results, str | bytes) else [results]
    named = [item if isinstance(item, BenchResults) else file_at("results", item) for item in items]
    if out is not None:
        out = file_at("out", out)
        check_page(out, *(item for item in named if isinstance(item, Path)))
    if figures is not None:
        figures = file_at("figures", figures)
    draw = drawing_library()
    sources = [
        Source(Path("results.json"), item) if isinstance(item, BenchResults) else Source.read(item) for item in named
    ]
    if not sources:
        raise ArgumentError("there are no results to report: name at least one file")
    comparison = compare.compare(*sources) if compare.comparable(sources) else None
    groups = groups_of(sources[-1:] if comparison is not None else sources)
    if not groups:
        raise ArgumentError(f"there is no sample yet in {', '.join(str(source.path) for source in sources)}")
    sheets = [(group, drawings(group)) for group in groups]
    libraries = str(draw.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    all_figures = [figure for _, sheet in sheets for figure in sheet]
    all_figures += changes.drawings(comparison) if comparison is not None else []
    result = Report(
        sources, page(sources, sheets, libraries, comparison), list(advice(groups)), comparison, all_figures
    )
    if out is not None:
        result.save(out)
    if figures is not None:
        result.save_figures(figures)
    return result


def drawing_library() -> Any:
    """Return vl_convert, or raise MissingError."""
    try:
        return import_module("vl_convert")
    except ImportError as error:
        raise MissingError("the report needs vl-convert-python: pip install 'fairlock[lab]'") from error


def summary(report: Report, out: Path, figures: Path | None = None) -> str:
    """Return where the page is, and how many figures it has."""
    return f"{out}: {counted(len(report.figures), 'figure')}" + (f", also in {figures}" if figures is not None else "")
