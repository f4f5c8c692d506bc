# SPDX-License-Identifier: Apache-2.0
"""Explore locks with the model checker, or find the bugs that are planted in mutants."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from typing import Any

from fairlock.usage import INTERRUPTED, UsageError
from fairlock_lab.checking import library
from fairlock_lab.checking.explore import MAX_STATES, CheckProgress
from fairlock_lab.checking.results import CheckResults, MutantResults
from fairlock_lab.checking.subjects import SCENARIOS
from fairlock_lab.errors import ChoiceError, check_number, choice

BOUNDS = ("threads", "episodes", "slots", "memory", "scenario")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="locks to check, or mutants with --mutants (default: all)"
    )
    group = parser.add_argument_group("modes")
    group.add_argument("--coverage", action="store_true", help="print the table of explored scenarios and bounds")
    group.add_argument("--deep", action="store_true", help="explore larger bounds, for up to an hour")
    group.add_argument("--mutants", action="store_true", help="find the planted bug of each mutant")
    group.add_argument("--litmus", action="store_true", help="compare the memory models with litmus tests")
    group.add_argument("--mutant", metavar="NAME", help="explore one mutant with the given bounds")
    group.add_argument("--schedule", metavar="STRING", help="replay a schedule, step by step")
    group = parser.add_argument_group("bounds (default: many scenarios, with the usual bounds of each)")
    group.add_argument("--threads", type=int, metavar="N", help="number of threads, from 1 to 4")
    group.add_argument("--episodes", type=int, metavar="N", help="episodes of each thread, from 1 to 8")
    group.add_argument("--slots", type=int, metavar="N", help="slots of the waiting array: 1, 2 or 4")
    group.add_argument("--memory", metavar="MODEL", help="sc (sequentially consistent) or weak")
    group.add_argument("--scenario", metavar="NAME", help=f"what the threads do: {', '.join(SCENARIOS)}")
    group = parser.add_argument_group("execution and output")
    group.add_argument(
        "--max-states", type=int, default=MAX_STATES, metavar="N", help="end a run after N states (%(default)s)"
    )
    group.add_argument(
        "--engine", default="states", metavar="ENGINE", help="states (default), or dpor: partial-order reduction"
    )
    group.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="explore on N threads (one per processor)"
    )
    group.add_argument("--json", action="store_true", help="print a list with an object for each run")


def run(args: argparse.Namespace) -> int:
    try:
        check_options(args)
        if args.schedule is not None:
            return run_replay(args)
        if args.litmus:
            return run_litmus(args)
        return run_exploration(args)
    except ChoiceError as error:
        raise UsageError(
            f"--{error.argument} {error.value}: choose from {', '.join(map(str, error.choices))}"
        ) from None


def run_exploration(args: argparse.Namespace) -> int:
    """Check locks or mutants. If Ctrl-C interrupts this, print the results so far."""
    interruption = None
    try:
        with ProgressLine() as progress:
            results = explore(args, progress)
    except library.CheckInterrupted as error:
        results, interruption = error.results, error
    print_results(args, results)
    if interruption is not None:
        print(f"interrupted: {interruption}", file=sys.stderr)
        return INTERRUPTED
    failed = results.survivors if isinstance(results, MutantResults) else not results.holds
    return 1 if failed else 0


def explore(args: argparse.Namespace, progress: ProgressLine) -> CheckResults | MutantResults:
    if args.mutants:
        return library.check_mutants(*args.names, max_states=args.max_states, jobs=args.jobs, progress=progress)
    return library.check(
        *args.names,
        mutant=args.mutant,
        **bounds(args),
        deep=args.deep,
        engine=args.engine,
        max_states=args.max_states,
        jobs=args.jobs,
        progress=progress,
    )


def print_results(args: argparse.Namespace, results: CheckResults | MutantResults) -> None:
    if args.json:
        print_json([result.to_dict() for result in results])
    elif isinstance(results, CheckResults) and args.coverage:
        print(results.coverage())
    else:
        print(results)
    if isinstance(results, CheckResults) and (args.json or args.coverage):  # otherwise the text includes the problems
        for problem in results.problems():
            print(f"\n{problem}", file=sys.stderr if args.json else sys.stdout)


def run_litmus(args: argparse.Namespace) -> int:
    results = library.litmus()
    if args.json:
        print_json([result.to_dict() for result in results])
    else:
        print(results)
    return 0 if results.as_expected else 1


def run_replay(args: argparse.Namespace) -> int:
    name = args.names[0] if args.names else None
    result = library.replay(name, mutant=args.mutant, schedule=args.schedule, **bounds(args))
    if args.json:
        print_json(result.to_dict())
    else:
        print(result)
    return 1 if result.property else 0


def print_json(value: object) -> None:
    print(json.dumps(value, indent=2))


def bounds(args: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in BOUNDS}


def given_options(args: argparse.Namespace) -> list[str]:
    """Return the bounds that the command line gives, as options."""
    return [f"--{name}" for name, value in bounds(args).items() if value is not None]


def check_options(args: argparse.Namespace) -> None:
    """Raise UsageError if two options exclude each other, or if a value is wrong, even one that the mode ignores."""
    has_bounds = bool(library.given_bounds(**bounds(args)))
    choice("engine", args.engine, library.CHOICES["engine"])
    check_number("--jobs", args.jobs, 1, library.MOST_JOBS)
    check_number("--max-states", args.max_states, 1, library.MOST_STATES)
    modes = [f"--{mode}" for mode in ("litmus", "mutants", "mutant") if getattr(args, mode) not in (None, False)]
    if len(modes) > 1:
        raise UsageError(f"{modes[0]} and {modes[1]} exclude each other: leave one out")
    if (args.deep or args.coverage) and (
        has_bounds or args.mutants or args.mutant is not None or args.litmus or args.schedule is not None
    ):
        raise UsageError("--deep and --coverage choose the bounds: combine them with names of locks only")
    if args.names and (args.litmus or args.mutant is not None):
        mode = "--litmus" if args.litmus else f"--mutant {args.mutant}"
        raise UsageError(f"{mode} takes no names of locks: remove {' '.join(args.names)}")
    if args.schedule is not None and len(args.names) + (args.mutant is not None) != 1:
        raise UsageError("--schedule replays one lock: fairlock check NAME --schedule STRING, or --mutant NAME")
    if has_bounds and (args.litmus or args.mutants):
        raise UsageError(f"{modes[0]} has its own bounds: leave {', '.join(given_options(args))} out")
    if args.engine == "dpor" and (args.memory == "weak" or args.mutants):
        raise UsageError("--engine dpor explores locks, or one --mutant, under --memory sc")


class ProgressLine:
    """A line on the terminal that shows the progress. It disappears at the end."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.drawn = False

    def __enter__(self) -> ProgressLine:
        return self

    def __call__(self, progress: CheckProgress) -> None:
        if not self.live:
            return
        width = shutil.get_terminal_size().columns - 1  # a line that wraps could not be erased
        tasks = f"[{progress.done}/{progress.total}]"
        line = f"{tasks} {progress.states:,} states, {progress.seconds:.0f} s   {progress.latest}"
        print(f"\r\x1b[K{line[:width]}", end="", file=sys.stderr, flush=True)
        self.drawn = True

    def __exit__(self, *_: object) -> None:
        if self.drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
