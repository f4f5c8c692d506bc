# SPDX-License-Identifier: Apache-2.0
"""Show one lock's fields, step by step, as threads contend for it."""

from __future__ import annotations

import argparse
import json

from fairlock_lab.checking.explanation import explain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a lock or semaphore: a name that `fairlock list --all` prints")
    parser.add_argument("--operations", action="store_true", help="also print every operation on shared memory")
    parser.add_argument("--json", action="store_true", help="print an object with the fields and the moments")


def run(args: argparse.Namespace) -> int:
    explanation = explain(args.name)
    if args.json:
        print(json.dumps(explanation.to_dict(), indent=2))
    else:
        print(explanation.text(operations=args.operations))
    return 0
