# SPDX-License-Identifier: Apache-2.0
"""Try real programs under the locks, and print the outcomes: real_programs.py [PROGRAM ...] [--lock L ...]."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as pytest does

from programs import LOCKS, PROGRAMS
from programs.trial import attempt

from fairlock.run import preload


def main() -> int:
    parser = argparse.ArgumentParser(description="Try real programs under the locks, and print the outcomes.")
    parser.add_argument("program", metavar="PROGRAM", nargs="*", help=f"default: all: {', '.join(PROGRAMS)}")
    parser.add_argument("--lock", metavar="L", action="append", help=f"may be repeated; default: {', '.join(LOCKS)}")
    parser.add_argument("--waiting", metavar="W", default=preload.DEFAULT_WAITING)
    parser.add_argument("--quick", action="store_true", help="less work, as in `make test`")
    args = parser.parse_args()
    for name in args.program:
        if name not in PROGRAMS:
            parser.error(f"unknown program {name!r}; choose from: {', '.join(PROGRAMS)}")

    failures = 0
    for program in [PROGRAMS[name] for name in args.program or PROGRAMS]:
        if missing := program.missing():
            print(f"{program.name:17}skipped: {missing}")
            continue
        for lock in args.lock or LOCKS:
            result = attempt(program, lock, args.waiting, thorough=not args.quick)
            failures += bool(result.failure)
            print(f"{program.name:17}{program.version():9}{lock:14}{result.seconds:6.1f} s  {result}", flush=True)
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
