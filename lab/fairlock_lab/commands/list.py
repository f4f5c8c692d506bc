# SPDX-License-Identifier: Apache-2.0
"""Print the catalogue as tables, or all properties of the named locks."""

from __future__ import annotations

import argparse
import json

from fairlock_lab.entries import catalogue

HINT = "`fairlock list NAME` prints all properties of one entry; --all adds the variations."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="print all properties of these entries")
    parser.add_argument(
        "--all", action="store_true", help="include the variations: other options of the same algorithms"
    )
    parser.add_argument("--json", action="store_true", help="print a list with an object for each entry")


def run(args: argparse.Namespace) -> int:
    entries = catalogue(*args.names, variations=args.all)
    if args.json:
        print(json.dumps([entry.to_dict() for entry in entries.values()], indent=2))
    elif args.names:
        for entry in entries.values():
            print(f"{entry}\n")
    else:
        print(f"{entries}\n{HINT}")
    return 0
