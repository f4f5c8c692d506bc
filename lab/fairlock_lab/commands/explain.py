# SPDX-License-Identifier: Apache-2.0
"""``fairlock explain``: one lock's fields, moment by moment, while threads contend for it."""

from __future__ import annotations

import argparse
import json

from fairlock import table
from fairlock.usage import UsageError, one_of
from fairlock_lab import _native, entries

LEGEND = """\
A hapax is written block:number. A pointer is written as the thread whose element it points to."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a lock or semaphore, as `fairlock list` names it")
    parser.add_argument("--operations", action="store_true", help="every operation on shared memory too")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(args: argparse.Namespace) -> int:
    by_name = {entry["name"]: entry for entry in entries.entries(variations=True)}
    if args.name not in by_name:
        raise UsageError(one_of("name", args.name, by_name))
    story = _native.explain(args.name)
    if args.json:
        print(json.dumps(story, indent=2))
        return 0
    entry = by_name[args.name]
    print(f"{args.name}: {entry['source']}\n{entries.order_of(entry)}")
    if platoon := dict(entry).get("platoon"):
        print(f"platoons of {platoon}: whoever has a ticket below grant + {platoon} goes on to the inner lock")
    print()
    header = ["", "what happens", "owner", *story["fields"], "waiting"]
    rows = []
    for number, moment in enumerate(story["moments"], 1):
        waiting = "  ".join(f"{who}@{what}" for who, what in moment["waiting"])
        rows.append([number, moment["action"], moment["owner"] or "-", *moment["values"], waiting])
    text = table.render(header, rows, right=[""])
    if not args.operations:
        print(text)
    else:
        top, rule, *lines = text.splitlines()
        print(f"{top}\n{rule}")
        for line, moment in zip(lines, story["moments"], strict=True):
            for operation in moment["operations"]:
                print(f"       {operation}")
            print(line)
    print(f"\nB@x: thread B waits, and watches x. {LEGEND}")
    return 0
