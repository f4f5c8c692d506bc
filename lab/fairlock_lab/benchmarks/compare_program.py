# SPDX-License-Identifier: Apache-2.0
"""One program under several locks: a whole run of it is a sample (``fairlock run --lock all -- program``)."""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import re
import resource
import shlex
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from fairlock.run import preload, python_program
from fairlock.usage import UsageError
from fairlock_lab.benchmarks import files, harness, plan, process, programs
from fairlock_lab.benchmarks.other_work import OtherWork
from fairlock_lab.benchmarks.process import GRACE, Ended, SampleError
from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point
from fairlock_lab.commands import bench

WORKLOAD = FAMILY = "program"
MEASURES = (
    *("score", "cost", "wall", "user", "system", "max_rss"),
    *("voluntary_switches", "involuntary_switches"),
)
PRINTED = {"measure": "score", "measure-lower": "cost"}  # option -> metric: what is found in the program's own output

MOST_REPEATS = 1000
SLOWEST = 20  # times as long as glibc's lock: a lock that needs more counts as hanging
A_DAY = 86400.0
SHORTEST = 0.2  # seconds: for less, nobody knows how much of the processors' time others took


def compare(locks: Sequence[str], waiting: str, repeat: int, command: Sequence[str], args: argparse.Namespace) -> int:
    """Run a program again and again, with one lock and the next; print how it went, and return the exit status."""
    options = options_of(command, args)
    if repeat > MOST_REPEATS:
        raise UsageError(f"--repeat {repeat}: at most {MOST_REPEATS}")
    if args.report is not None:
        files.check_report()
    path, report = (files.writable(Path(one) if one is not None else None) for one in (args.json, args.report))
    files.apart(report, path)
    bench.choose_signals()
    try:
        seconds = rehearse(point_of(programs.UNREPLACED, None, options, 0.0))
    except SampleError as error:
        print(f"fairlock: with glibc's lock, {error}", file=sys.stderr)
        return bench.FAILED
    subjects = [
        (lock, waiting) if lock != preload.GLIBC else (programs.UNREPLACED, None)
        for lock in dict.fromkeys([preload.GLIBC, *locks])  # what all others are compared with
    ]
    points = [(point_of(lock, policy, options, seconds), repeat) for lock, policy in subjects]
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    made = plan.make(WORKLOAD, points, seed=seed, warm_up=0.0)
    return bench.carry_out(harness.begin(made, words_of(locks, waiting, repeat, command, args), None), path, report)


def options_of(command: Sequence[str], args: argparse.Namespace) -> dict[str, Option]:
    """Return what a sample has to know beyond its lock, checked."""
    if args.timeout is not None and not 0 < args.timeout <= A_DAY:
        raise UsageError(f"--timeout: seconds, at most {A_DAY:.0f}, not {args.timeout:g}")
    found: dict[str, Option] = {"command": shlex.join(command)}
    for name in PRINTED:
        pattern = getattr(args, name.replace("-", "_"))
        if pattern is not None:
            found[name] = checked(name, pattern)
    found |= {"timeout": args.timeout} if args.timeout is not None else {}
    return found | {name: True for name in ("python", "show") if getattr(args, name)}


def checked(name: str, pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"--{name} {pattern}: {error}") from error
    if groups != 1:
        raise UsageError(f"--{name} {pattern}: needs one group, (...), around the number, and has {groups}")
    return pattern


def words_of(
    locks: Sequence[str], waiting: str, repeat: int, command: Sequence[str], args: argparse.Namespace
) -> list[str]:
    """Return the command line, for the file."""
    found = ["run", "--lock", ",".join(locks), "--waiting", waiting, "--repeat", str(repeat)]
    for name in ("timeout", "measure", "measure-lower", "seed", "json", "report"):
        value = getattr(args, name.replace("-", "_"))
        found += [f"--{name}", str(value)] if value is not None else []
    found += [f"--{name}" for name in ("python", "show") if getattr(args, name)]
    return [*found, "--", *command]


def point_of(lock: str, waiting: str | None, options: dict[str, Option], seconds: float) -> Point:
    name = Path(shlex.split(str(options["command"]))[0]).name
    return Point(WORKLOAD, name, lock, waiting, None, 0, 0, seconds, FAMILY, options)


def rehearse(point: Point) -> float:
    """Return how long the program takes. Then also its files are in memory, and it has shown that it runs at all."""
    print(f"{WORKLOAD}: first a run with glibc's lock, which does not count", file=sys.stderr)
    return float(run(point)["wall"])


# --- one sample ---


def missing(point: Point) -> str:
    name = shlex.split(str(point.options["command"]))[0]
    return "" if shutil.which(name) else f"there is no program {name} here"


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    return run(point)


def run(point: Point) -> Metrics:
    """Run the program once, to its end."""
    options = point.options
    limit = float(options.get("timeout") or (SLOWEST * point.seconds + GRACE if point.seconds else A_DAY))
    environment = python_program.environment(programs.environment(point), bool(options.get("python")))
    others, sight = OtherWork(), programs.Sight(point)
    unread = not options.get("show") and not any(name in options for name in PRINTED)
    words = shlex.split(str(options["command"]))
    try:
        ended = process.run(words, limit, env=environment, look=sight, discard=unread)
    except OSError as error:
        raise SampleError(f"it did not start: {error.strerror}") from error
    share = others.share()
    if options.get("show"):
        print(f"--- {point.label}\n{ended.output}{ended.errors}", end="", file=sys.stderr)
    seen = sight.found(ended.errors)
    if ended.status != 0:
        raise SampleError(how_it_ended(ended))
    usage = ended.usage
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        **{metric: figure(ended, str(options[name]), name) for name, metric in PRINTED.items() if name in options},
        "wall": ended.seconds,
        "user": usage.ru_utime,
        "system": usage.ru_stime,
        # Up to the moment when a process becomes another program, its memory is ours.
        "max_rss": 1024 * usage.ru_maxrss if usage.ru_maxrss > own else None,
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
        "other_work": share if ended.seconds >= SHORTEST else None,
        **seen,
    }


def how_it_ended(ended: Ended) -> str:
    if ended.status < 0:
        known = -ended.status in {int(number) for number in signal.Signals}  # those of real time have no names
        text = f"it was ended by {signal.Signals(-ended.status).name if known else f'signal {-ended.status}'}"
    else:
        text = f"it ended with status {ended.status}"
    last = [line.strip() for line in ended.errors.splitlines() if line.strip()][-1:]
    return ": ".join([text, *last])


def figure(ended: Ended, pattern: str, name: str) -> float:
    """Return the last number in the output that the pattern finds."""
    found = re.findall(pattern, ended.output + ended.errors, re.MULTILINE)
    if not found:
        raise SampleError(f"nothing that it printed is like --{name} {pattern}")
    with contextlib.suppress(ValueError):
        if math.isfinite(value := float(found[-1].replace(",", ""))):
            return value
    raise SampleError(f"--{name} {pattern} found '{found[-1]}', which is no number")
