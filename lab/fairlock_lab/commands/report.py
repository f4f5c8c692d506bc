# SPDX-License-Identifier: Apache-2.0
"""Make a page of results: figures, a summary in words, and what changed between two files."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from fairlock.usage import UsageError


class MissingError(UsageError, ImportError):
    """What draws the figures is not installed."""


try:
    import vl_convert
except ImportError as error:
    raise MissingError("the report needs vl-convert-python: pip install 'fairlock[lab]'") from error

from fairlock_lab.benchmarks import files  # noqa: E402
from fairlock_lab.reports import changes, compare, style  # noqa: E402
from fairlock_lab.reports.data import Source, groups_of  # noqa: E402
from fairlock_lab.reports.figures import drawings, for_file  # noqa: E402
from fairlock_lab.reports.page import page  # noqa: E402
from fairlock_lab.reports.parts import Drawing  # noqa: E402
from fairlock_lab.reports.words import counted  # noqa: E402


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULTS",
        help="files of `fairlock bench --json`; two of the same workload, OLD NEW, are compared too",
    )
    parser.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE", help="the page (report.html)")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="each figure as SVG and PNG too")


def run(args: argparse.Namespace) -> int:
    files.writable(args.out)
    files.apart(args.out, *args.results)
    sources = [Source.read(path) for path in args.results]
    comparison = compare.compare(*sources) if compare.comparable(sources) else None
    shown = sources[-1:] if comparison is not None else sources
    groups = groups_of(shown)
    sheets = [(group, drawings(group)) for group in groups]
    if not groups:
        raise UsageError(f"there is no sample yet in {', '.join(map(str, args.results))}")
    if comparison is not None:
        print(compare.show(comparison))
    elif len(sources) == 2:
        print("no comparison: the two files have no point in common", file=sys.stderr)
    write(args.out, page(sources, sheets, javascript(), comparison).encode(errors="backslashreplace"))
    figures = [figure for _, some in sheets for figure in some]
    figures += changes.drawings(comparison) if comparison is not None else []
    if args.figures is not None:
        save(figures, args.figures)
    print(f"{args.out}: {counted(len(figures), 'figure')}" + (f", also in {args.figures}" if args.figures else ""))
    return 0


def javascript() -> str:
    """Return Vega, Vega-Lite and vega-embed, in one script."""
    snippet = "window.vegaEmbed = vegaEmbed;"
    return str(vl_convert.javascript_bundle(snippet))


def save(figures: list[Drawing], folder: Path) -> None:
    """Write each figure as SVG and as PNG."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from error
    for figure in figures:
        spec = for_file(figure)
        write(folder / f"{figure.name}.svg", vl_convert.vegalite_to_svg(spec, config=style.LIGHT).encode())
        write(folder / f"{figure.name}.png", vl_convert.vegalite_to_png(spec, config=style.LIGHT, scale=2))


def write(path: Path, content: bytes) -> None:
    """Put a file in its place at once, or not at all."""
    path = path.resolve()  # a link stays one
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if part.exists():
            part.unlink()
