# SPDX-License-Identifier: Apache-2.0
"""Make a page of results: figures, advice, and what changed between two files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairlock_lab.reports import library


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results",
        nargs="+",
        type=Path,
        metavar="RESULTS",
        help="files of `fairlock bench --json`; two files of one workload, OLD NEW, are also compared",
    )
    parser.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE", help="the page (report.html)")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="also write each figure there, as SVG and PNG")


def run(args: argparse.Namespace) -> int:
    report = library.report(args.results, out=args.out, figures=args.figures)
    if report.comparison is not None:
        print(report)
    elif len(args.results) == 2:
        print("no comparison: the two files have no point in common", file=sys.stderr)
    print(library.summary(report, args.out, args.figures))
    return 0
