"""``fairlock bench``: what our types cost and how fair they are, against those of ``threading`` in the same run."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fairlock.usage import UsageError, one_of

WORKLOADS = ["python"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workload", metavar="WORKLOAD", help=f"which one: {', '.join(WORKLOADS)}")
    parser.add_argument(
        "--rounds", type=int, default=7, metavar="N", help="rounds in which ours and theirs alternate (default: 7)"
    )
    parser.add_argument(
        "--seconds", type=float, default=1.0, metavar="S", help="the window in which turns are counted (default: 1)"
    )
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="only rows that have one of these words, separated by commas"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample to a file too")


def run(args: argparse.Namespace) -> int:
    from fairlock.bench import python

    if args.workload not in WORKLOADS:
        raise UsageError(one_of("workload", args.workload, WORKLOADS))
    if args.rounds < 1 or not 0.01 <= args.seconds <= 600:
        raise UsageError("--rounds needs at least 1, and --seconds from 0.01 to 600")
    rows = python.rows_for_this_python()
    words = [word for word in args.only.split(",") if word]
    chosen = [row for row in rows if not words or any(word in row.name for word in words)]
    if not chosen:
        raise UsageError(
            f"no row has one of these words: {args.only}; there are: {'; '.join(row.name for row in rows)}"
        )
    results = python.measure(chosen, args.rounds, args.seconds)
    python.print_table(results)
    if args.json is not None:
        done = args.json.with_name(args.json.name + ".part")
        done.write_text(json.dumps(python.as_json(results, args.rounds, args.seconds), indent=2) + "\n")
        done.replace(args.json)  # all of it, or nothing
    return 0
