"""Build the native benchmark, run it, and compare fairlock with what a program could use instead.

    python benchmarks/run.py [--only a,b] [--seconds S] [--rounds N] [--threads N] [--crowd N] [--hogs N]
                             [--locks a,b] [--policies a,b] [--json FILE]

All figures come from one run in which all locks took turns. A ratio is the median over the rounds
of the two samples of one round, so what slows the whole machine down for a while cancels out.
Timings are no tests: a missed target is printed as missed, and the exit status is 0 all the same.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from program import build, measure
from progress import Progress
from tables import print_results
from targets import all_targets, print_targets

# What the program is told if the user says it; it knows the defaults, and what is valid.
PASSED_ON = {
    "only": ("a,b", "only these parts: uncontended, contended, semaphores, oversubscribed"),
    "seconds": ("S", "time to measure, in all (default: 10, 30, 15 and 180 for the four parts)"),
    "rounds": ("N", "rounds to divide it into (default: 41; oversubscribed: 5)"),
    "threads": ("N", "threads that contend (default: 2)"),
    "crowd": ("N", "threads when oversubscribed (default: 32)"),
    "hogs": ("N", "processes that burn CPU beside them (default: 2)"),
    "locks": ("a,b", "only these locks and semaphores of the catalogue"),
    "policies": ("a,b", "waiting policies (default: what suits each part)"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare fairlock's locks with others, natively.")
    for name, (metavar, text) in PASSED_ON.items():
        parser.add_argument(f"--{name}", metavar=metavar, help=text)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write samples and targets here")
    options = parser.parse_args()
    if options.json is not None and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.absolute().parent}")

    progress = Progress()
    build(progress)
    arguments = []
    for name in PASSED_ON:
        if (value := getattr(options, name)) is not None:
            arguments += [f"--{name}", value]
    raw = measure(arguments, progress)
    targets = all_targets(raw)
    print_results(raw)
    print_targets(targets)
    if options.json is not None:
        judged = [{**asdict(target), "verdict": target.verdict()} for target in targets]
        options.json.write_text(json.dumps({**raw, "targets": judged}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
