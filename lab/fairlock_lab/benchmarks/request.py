# SPDX-License-Identifier: Apache-2.0
"""From the command line to results that have no samples yet, or not all: what to measure, checked."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from fairlock.usage import UsageError, one_of
from fairlock_lab.benchmarks import harness, machine, native, ordinary_programs, plan, programs, python_types, results
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.composites import points as composite_points
from fairlock_lab.benchmarks.families import ELSEWHERE
from fairlock_lab.benchmarks.results import Plan, Results
from fairlock_lab.benchmarks.roster import Roster
from fairlock_lab.benchmarks.rows import RowWorkload
from fairlock_lab.benchmarks.workloads import WORKLOADS

# Options that say what to measure. A plan from a file has all of them already.
PLANNING = ("config", "locks", "waiting", "threads", "seconds", "runs", "hogs", "seed", "set", "only")
FLAGS = ("pin", "no_references")  # the same, without a value

ROW_WORKLOADS: dict[str, RowWorkload] = {one.name: one for one in (python_types.PYTHON, ordinary_programs.INSTALL)}


def names() -> list[str]:
    return [*COMPOSITES, *WORKLOADS, *ROW_WORKLOADS]


def planned(args: argparse.Namespace) -> Results:
    """Return results without samples, for what the command line asks."""
    if args.workload is None:
        raise UsageError(f"WORKLOAD is missing; choose from: {', '.join(names())} (fairlock bench --list tells more)")
    if args.workload not in names():
        raise UsageError(one_of("workload", args.workload, names()))
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(32)
    if args.workload in ROW_WORKLOADS:
        made, roster = plan_of_rows(args, ROW_WORKLOADS[args.workload], seed), None
    else:
        refuse(args, ("only",), f"{args.workload} has no rows: --only is for {' and '.join(ROW_WORKLOADS)}")
        made, roster = native_plan(args, seed), native.roster()
    return harness.begin(made, command(args), roster)


def native_plan(args: argparse.Namespace, seed: int) -> Plan:
    roster = native.roster()
    wish = plan.Wish(
        configs=words(args.config, "--config"),
        locks=words(args.locks, "--locks"),
        waiting=words(args.waiting, "--waiting"),
        threads=threads(args.threads, roster),
        seconds=args.seconds,
        runs=args.runs,
        hogs=args.hogs,
        references=not args.no_references,
        options=dict(plan.option(text) for text in args.set or ()),
    )
    if args.workload in COMPOSITES:
        fixed = ("config", "waiting", "threads", "hogs", "set")
        refuse(args, fixed, f"{args.workload} has its own {', '.join(fixed[:-1])} and options; choose another workload")
        composite = COMPOSITES[args.workload]
        chosen = composite_points(composite, wish, roster)
        warm_up = composite.warm_up
    else:
        workload = WORKLOADS[args.workload]
        runs = args.runs or workload.runs
        chosen = [(point, runs) for point in plan.points_of(args.workload, workload, wish, roster)]
        warm_up = workload.warm_up
    if args.seconds is not None:
        warm_up = min(warm_up, args.seconds)
    return plan.make(
        args.workload, chosen, seed=seed, warm_up=warm_up, seconds=args.seconds, hogs=args.hogs, pin=args.pin
    )


def plan_of_rows(args: argparse.Namespace, workload: RowWorkload, seed: int) -> Plan:
    fixed = ("config", "locks", "waiting", "threads", "hogs", "set")
    refuse(args, fixed, f"{workload.name} has its own rows: choose with --only")
    if args.pin:
        raise UsageError(f"{workload.name} does not tie threads to processors: leave --pin out")
    points = workload.points(words(args.only, "--only"), args.seconds)
    chosen = [(point, args.runs or workload.runs) for point in points]
    warm_up = min(workload.warm_up, args.seconds or workload.warm_up)
    return plan.make(workload.name, chosen, seed=seed, warm_up=warm_up, seconds=args.seconds)


def repeated(args: argparse.Namespace) -> Results:
    """Return results without samples, for the plan of a file."""
    why = f"--from repeats the plan in {args.source} as it is: leave the rest out"
    refuse(args, ("workload", *PLANNING, *FLAGS), why)
    old = results.load(args.source)
    if args.json is not None and args.json.exists() and args.json.samefile(args.source):
        raise UsageError(f"--json {args.json} would replace the file of --from: name another")
    return harness.begin(old.plan, [*command(args)], runnable(old, args.source))


def resumed(args: argparse.Namespace) -> Results:
    """Return the results of a file that may not be complete."""
    refuse(
        args,
        ("workload", "source", "json", *PLANNING, *FLAGS),
        f"--resume goes on with the plan in {args.resume}, and writes there: leave the rest out",
    )
    found = results.load(args.resume)
    roster = runnable(found, args.resume)
    here = machine.facts(roster.compiler if roster is not None else None)
    if not args.anyway:
        harness.same_machine(found, args.resume, here)
    harness.begin(found.plan, [], roster)  # complains of what is missing here
    return found


def runnable(found: Results, path: Path) -> Roster | None:
    """Refuse a plan that this installation cannot measure; return the roster, if the plan needs it."""
    for point in found.plan.points:
        if point.family in programs.FAMILIES and not programs.known(point):
            raise UsageError(f"{path}: this build of fairlock cannot measure {point}")
    inside = [point for point in found.plan.points if point.family not in ELSEWHERE]
    if not inside:
        return None
    roster = native.roster()
    for point in inside:
        subject = roster.subjects.get(point.lock)
        known = point.family in native.WITHOUT_A_LOCK or (
            subject is not None and (point.waiting is None or point.waiting in subject.policies)
        )
        if point.family not in roster.families or not known:
            raise UsageError(f"{path}: this build of fairlock cannot measure {point}")
    return roster


def command(args: argparse.Namespace) -> list[str]:
    """Return the command line, for the file."""
    found = ["bench", *([args.workload] if args.workload else [])]
    for name in (*PLANNING, "json", "report", "source"):
        value = getattr(args, name)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            found += [f"--{'from' if name == 'source' else name}", str(one)]
    return found + [f"--{flag.replace('_', '-')}" for flag in (*FLAGS, "anyway") if getattr(args, flag)]


# --- arguments ---


def refuse(args: argparse.Namespace, fixed: tuple[str, ...], why: str) -> None:
    if any(getattr(args, name) is not None and getattr(args, name) is not False for name in fixed):
        raise UsageError(why)


def check_numbers(args: argparse.Namespace) -> None:
    for name, value, least, most in (
        ("--runs", args.runs, 1, 1000),
        ("--seconds", args.seconds, 0.001, 3600),
        ("--hogs", args.hogs, 0, 64),
        ("--seed", args.seed, 0, 2**63 - 1),
    ):
        if value is not None and not least <= value <= most:
            raise UsageError(f"{name}: a number from {least} to {most}, not {value}")


def words(text: str | None, option: str) -> tuple[str, ...]:
    if text is None:
        return ()
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not found:
        raise UsageError(f"{option} names nothing")
    return found


def threads(text: str | None, roster: Roster) -> tuple[int, ...]:
    most = min(machine.most_threads(), roster.most_threads)
    found = []
    for word in words(text, "--threads"):
        if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) > 0):
            raise UsageError(f"--threads: numbers from 1 to {most}, with commas between, not '{word}'")
        if int(word) > most:
            raise UsageError(f"--threads {word}: there can be at most {most} threads here")
        found.append(int(word))
    return tuple(sorted(set(found)))
