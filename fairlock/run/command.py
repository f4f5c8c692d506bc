# SPDX-License-Identifier: Apache-2.0
"""``fairlock run -- program``: run a program with its POSIX mutexes, condition variables and semaphores replaced."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import signal
import sys

from fairlock import extensions, paths, table
from fairlock.run import lock_statistics, preload, program, python_program
from fairlock.usage import UsageError

ALL = "all"
COMPARISON_OPTIONS = ("timeout", "measure", "measure_lower", "show", "seed", "report")  # options for comparisons only


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "fairlock run [option ...] [--] PROGRAM [ARGUMENT ...]"
    parser.add_argument(
        "--lock",
        metavar="NAME",
        default=preload.DEFAULT_LOCK,
        help=f"default: {preload.DEFAULT_LOCK}; {preload.GLIBC} replaces nothing; {ALL}, or a,b,c: compare locks",
    )
    parser.add_argument(
        "--waiting",
        metavar="POLICY",
        default=preload.DEFAULT_WAITING,
        help=f"what a waiter does (default: {preload.DEFAULT_WAITING})",
    )
    parser.add_argument("--python", action="store_true", help="also replace the types of Python's threading")
    parser.add_argument(
        "--stats", action="store_true", help="report which mutexes were contended when the program ends"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the statistics or the comparison to FILE")
    parser.add_argument("--print", action="store_true", help="print the command with its environment; start nothing")
    parser.add_argument("--list", action="store_true", help="print all locks and waiting policies")
    group = parser.add_argument_group("to compare locks")
    group.add_argument("--repeat", metavar="N", type=int, help="run the program N times with each lock (default: 5)")
    group.add_argument("--timeout", metavar="S", type=float, help="a run that takes more seconds has failed")
    group.add_argument("--measure", metavar="REGEX", help="compare a number that the program prints; more is better")
    group.add_argument("--measure-lower", metavar="REGEX", help="the same; less is better")
    group.add_argument("--show", action="store_true", help="print the output of each run")
    group.add_argument("--seed", metavar="X", type=int, help="repeat the order of an earlier comparison")
    group.add_argument("--report", metavar="FILE.html", help="also make a page of the results")
    parser.add_argument("command", metavar="PROGRAM ARGUMENT", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    try:
        paths.preload_dir()
    except FileNotFoundError as error:
        raise UsageError(str(error)) from None
    if args.list:
        print(listing())
        return 0
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    comparing = args.lock == ALL or "," in args.lock or args.repeat is not None
    refuse_conflicts(args, command, comparing)
    preload.library(preload.DEFAULT_LOCK, args.waiting)  # refuse an unknown policy even with --lock glibc
    inherited = preload.inherited_environment()
    if comparing:
        locks = parse_locks(args.lock, args.waiting)
        prepare(command, python_program.environment(inherited, args.python), args.python, locks != [preload.GLIBC])
        repeat = 5 if args.repeat is None else args.repeat
        compare = extensions.load(extensions.COMPARE_PROGRAM, "compare", "fairlock run with several locks")
        return int(compare(locks, args.waiting, repeat, command, args))

    environment = python_program.environment(preload.environment(args.lock, args.waiting, inherited), args.python)
    if args.stats:
        environment = preload.preloading(lock_statistics.library(), environment)
    file = prepare(command, environment, args.python, args.stats or args.lock != preload.GLIBC) if command else ""
    if args.print:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="surrogateescape")  # print names of any encoding unchanged
        print(shell_command(command, environment, inherited))
        return 0
    if args.stats:
        return lock_statistics.run(command, environment, args.json)
    return become(file, command, environment)


def listing() -> str:
    rows = [(waiting, ", ".join(preload.locks(waiting))) for waiting in preload.waiting_policies()]
    return (
        table.render(("--waiting", "--lock"), rows)
        + f"\n\nThe default is --lock {preload.DEFAULT_LOCK} --waiting {preload.DEFAULT_WAITING}. "
        f"--lock {preload.GLIBC} replaces nothing. --lock {ALL}, or several names separated by commas, compares locks."
    )


def refuse_conflicts(args: argparse.Namespace, command: list[str], comparing: bool) -> None:
    if not command and not args.print:
        raise UsageError(
            "which program? fairlock run [--lock NAME] [--waiting POLICY] -- PROGRAM [ARGUMENT ...]; "
            f"locks: {', '.join([preload.GLIBC, *preload.locks()])}; waiting: {', '.join(preload.waiting_policies())}"
        )
    if comparing and (args.stats or args.print):
        raise UsageError("--stats and --print need a single lock; name it with --lock, and leave out --repeat")
    if args.repeat is not None and args.repeat < 1:
        raise UsageError(f"--repeat {args.repeat}: a comparison needs at least one run with each lock; try --repeat 5")
    given = [
        name.replace("_", "-")
        for name in COMPARISON_OPTIONS
        if getattr(args, name) is not None and getattr(args, name) is not False
    ]
    if given and not comparing:
        raise UsageError(f"--{given[0]} is only for comparisons of locks; add --lock all, or --repeat N")
    if args.json is not None and not comparing and not args.stats:
        raise UsageError("--json writes statistics or a comparison; add --stats, or --lock all")


def parse_locks(names: str, waiting: str) -> list[str]:
    """Return the locks of a comma-separated list."""
    locks = names.split(",")
    for lock in locks:
        if lock not in (preload.GLIBC, ALL):
            preload.library(lock, waiting)
    return [preload.GLIBC, *preload.locks(waiting)] if ALL in locks else locks


def prepare(command: list[str], environment: dict[str, str], python: bool, replaced: bool) -> str:
    """Return the file to start; raise UsageError if it cannot start, or would not get what the options ask for."""
    steps = program.steps(command, environment)
    if replaced:
        program.check(steps[-1], preload.library(preload.DEFAULT_LOCK))
    program.check_loader(steps[-1])
    if python:
        python_program.check(steps, environment)
    return steps[0].file


def shell_command(command: list[str], environment: dict[str, str], inherited: dict[str, str]) -> str:
    changed = [
        name for name in (preload.WAITING, "LD_PRELOAD", "PYTHONPATH") if environment.get(name) != inherited.get(name)
    ]
    # An empty value has no quotes: in `env $(...)` the shell would not remove them.
    settings = [f"{name}={shlex.quote(environment[name]) if environment.get(name) else ''}" for name in changed]
    return " ".join([*settings, *map(shlex.quote, command)])


def become(file: str, command: list[str], environment: dict[str, str]) -> int:
    """Become the program, which then has this process, its signals, its files and its exit status."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these signals, and the program would inherit that
        signal.signal(number, signal.SIG_DFL)
    if sys.stdout is not None:  # the caller may have closed it
        sys.stdout.flush()
    try:
        os.execve(file, command, environment)
    except OSError as error:
        raise program.NotExecutableError(f"could not start {file}: {error.strerror}") from None
