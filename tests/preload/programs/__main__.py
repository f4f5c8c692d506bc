"""Try real programs under the locks: python tests/preload/programs [PROGRAM ...] [--lock L] [--waiting W]"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # started as a folder, this is not in a package yet

from programs import LOCKS, PROGRAMS
from programs.trial import attempt

from fairlock import preload


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/preload/programs", description="Try real programs under locks.")
    parser.add_argument("program", metavar="PROGRAM", nargs="*", help=f"all unless told: {', '.join(PROGRAMS)}")
    parser.add_argument("--lock", metavar="L", action="append", help=f"{', '.join(LOCKS)} unless told; may be repeated")
    parser.add_argument("--waiting", metavar="W", default=preload.DEFAULT_WAITING)
    parser.add_argument("--quick", action="store_true", help="a quarter of the work, as in `make test`")
    args = parser.parse_args()
    unknown = [name for name in args.program if name not in PROGRAMS]
    if unknown:
        parser.error(f"no program {unknown[0]!r}; there are {', '.join(PROGRAMS)}")

    failures = 0
    for program in [PROGRAMS[name] for name in args.program or PROGRAMS]:
        if missing := program.missing():
            print(f"{program.name:17}skipped: {missing}")
            continue
        for lock in args.lock or LOCKS:
            result = attempt(program, lock, args.waiting, thorough=not args.quick)
            failures += bool(result.failure)
            which = f"{program.name:17}{program.version():9}{lock:15}"
            print(f"{which}{result.seconds:5.1f} s  {result}", flush=True)
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
