# SPDX-License-Identifier: Apache-2.0
"""``fairlock run`` with several locks: it runs a program under each of them, and compares."""

from __future__ import annotations

import argparse
import random
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from fairlock.run import preload
from fairlock.usage import UsageError
from fairlock_lab.benchmarks import compare_program, harness, plan, programs
from fairlock_lab.benchmarks.compare_program import A_DAY
from fairlock_lab.benchmarks.output_files import check_page, check_writable
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.request import MOST_SEED
from fairlock_lab.benchmarks.results import Option, Point
from fairlock_lab.commands import bench
from fairlock_lab.errors import check_number

MOST_REPEATS = 1000


def compare(locks: Sequence[str], waiting: str, repeat: int, command: Sequence[str], args: argparse.Namespace) -> int:
    """Run a program several times with each lock, print the results, and return the exit status."""
    options = options_of(command, args)
    if repeat > MOST_REPEATS:
        raise UsageError(f"--repeat: choose at most {MOST_REPEATS}, not {repeat}")
    path, page = (Path(name) if name is not None else None for name in (args.json, args.report))
    if path is not None:
        check_writable(path)
    if page is not None:
        bench.check_drawing_library()
        check_page(page, *([path] if path is not None else []))
    bench.choose_signals()
    try:
        seconds = rehearse(compare_program.point_of(programs.UNREPLACED, None, options, 0.0))
    except SampleError as error:
        print(f"fairlock: with glibc's lock, {error}", file=sys.stderr)
        return bench.FAILED
    subjects = [
        (lock, waiting) if lock != preload.GLIBC else (programs.UNREPLACED, None)
        for lock in dict.fromkeys([preload.GLIBC, *locks])  # the reference of the comparison
    ]
    points = [(compare_program.point_of(lock, policy, options, seconds), repeat) for lock, policy in subjects]
    if args.seed is not None:
        check_number("--seed", args.seed, 0, MOST_SEED)
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    chosen = plan.make(compare_program.WORKLOAD, points, seed=seed, warm_up=0.0)
    line = command_line(locks, waiting, repeat, command, args)
    return bench.carry_out(harness.begin(chosen, line, None), path, page)


def options_of(command: Sequence[str], args: argparse.Namespace) -> dict[str, Option]:
    """Return the options of a sample. Raise UsageError if one is wrong."""
    if args.timeout is not None and not 0 < args.timeout <= A_DAY:
        raise UsageError(f"--timeout: choose more than 0 and at most {A_DAY:.0f} seconds, not {args.timeout:g}")
    options: dict[str, Option] = {"command": shlex.join(command)}
    for name in compare_program.PRINTED:
        pattern = getattr(args, name.replace("-", "_"))
        if pattern is not None:
            options[name] = checked_pattern(name, pattern)
    options |= {"timeout": args.timeout} if args.timeout is not None else {}
    return options | {name: True for name in ("python", "show") if getattr(args, name)}


def checked_pattern(name: str, pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"--{name} {pattern}: {error}") from error
    if groups != 1:
        raise UsageError(f"--{name} {pattern}: put one group, (...), around the number; the pattern has {groups}")
    return pattern


def command_line(
    locks: Sequence[str], waiting: str, repeat: int, command: Sequence[str], args: argparse.Namespace
) -> list[str]:
    """Return the words of the command line."""
    line = ["run", "--lock", ",".join(locks), "--waiting", waiting, "--repeat", str(repeat)]
    for name in ("timeout", "measure", "measure-lower", "seed", "json", "report"):
        value = getattr(args, name.replace("-", "_"))
        line += [f"--{name}", str(value)] if value is not None else []
    line += [f"--{name}" for name in ("python", "show") if getattr(args, name)]
    return [*line, "--", *command]


def rehearse(point: Point) -> float:
    """Return how long the program takes.

    This run also loads the program's files into memory, and shows that the program runs at all.
    """
    print(f"{compare_program.WORKLOAD}: a rehearsal with glibc's lock, which does not count", file=sys.stderr)
    return float(compare_program.run(point)["wall"])
