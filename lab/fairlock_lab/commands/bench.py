# SPDX-License-Identifier: Apache-2.0
"""``fairlock bench``: measure locks against what a program would otherwise use, in runs that take turns."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from fairlock import signals
from fairlock.usage import INTERRUPTED
from fairlock_lab.benchmarks import files, harness, request
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.progress import clock
from fairlock_lab.benchmarks.results import Results
from fairlock_lab.benchmarks.workloads import WORKLOADS

FAILED = 1  # exit status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workload", nargs="?", metavar="WORKLOAD", help=f"one of: {', '.join(request.names())}")
    parser.add_argument("--list", action="store_true", help="print the workloads and their configs")
    group = parser.add_argument_group("what to measure (default: as in the papers)")
    group.add_argument("--config", metavar="A,B", help="configs of the workload, or all")
    group.add_argument("--locks", metavar="A,B", help="locks or semaphores, or all; the references come by themselves")
    group.add_argument("--no-references", action="store_true", help="without pthread_mutex and the other references")
    group.add_argument("--waiting", metavar="A,B", help="spin, yield, monitor, park, spin-then-park")
    group.add_argument("--threads", metavar="1,2,4", help="numbers of threads")
    group.add_argument("--seconds", type=float, metavar="S", help="the window in which turns are counted")
    group.add_argument("--runs", type=int, metavar="N", help="independent runs; medians are taken over them")
    group.add_argument("--pin", action="store_true", help="tie each thread to a processor")
    group.add_argument("--hogs", type=int, metavar="N", help="processes that burn CPU meanwhile")
    group.add_argument(
        "--seed", type=int, metavar="X", help="of the order and of the work (default: another each time)"
    )
    group.add_argument("--set", action="append", metavar="OPTION=VALUE", help="change an option of the workload")
    group.add_argument("--only", metavar="WORDS", help="python, install: only the rows with one of these words (A,B)")
    group = parser.add_argument_group("files")
    group.add_argument("--json", type=Path, metavar="FILE", help="keep every sample here, as it comes")
    group.add_argument("--report", type=Path, metavar="FILE.html", help="make a page of the results")
    group.add_argument("--resume", type=Path, metavar="FILE", help="go on where an interrupted benchmark stopped")
    group.add_argument("--from", dest="source", type=Path, metavar="FILE", help="repeat a plan: same order, same seeds")
    group.add_argument("--anyway", action="store_true", help="--resume on another machine than the file's")


def run(args: argparse.Namespace) -> int:
    if args.list:
        print_list()
        return 0
    choose_signals()
    request.check_numbers(args)
    if args.report is not None:
        files.check_report()
    if args.resume is not None:
        found, path = request.resumed(args), args.resume
        if found.left():
            files.writable(path)
    else:
        found = request.repeated(args) if args.source is not None else request.planned(args)
        path = files.writable(args.json or files.default(args.workload, "results.json"))
    report = files.writable(args.report or files.default(args.workload, "report.html"))
    files.apart(report, path, args.source)
    return carry_out(found, path, report)


def carry_out(found: Results, path: Path | None, report: Path | None) -> int:
    """Measure what is left, and show all of it; what was measured until something failed is kept."""
    try:
        return measure(found, path, report)
    except SampleError as error:
        if found.samples:
            harness.stopped(found, harness.kept(found, path))
        print(f"fairlock: {error}", file=sys.stderr)
        return FAILED


def choose_signals() -> None:
    signals.all_as_ctrl_c()
    if signals.ours():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, children would vanish before we can ask how they ended


def measure(found: Results, path: Path | None, report: Path | None) -> int:
    left = found.left()
    if left:
        seconds = sum(harness.work(found.plan, i) for i, _ in left)
        print(f"{found.plan.workload}: {len(left)} samples, about {clock(seconds)}", file=sys.stderr)
    done = harness.run(found, path)
    if not done:
        path = harness.kept(found, path)  # first of all: who is in a hurry presses Ctrl-C again
    if found.samples:
        show(found)
    if not done:
        sys.stdout.flush()
        harness.stopped(found, path)
        return INTERRUPTED
    if path is not None:
        print(f"\n{path}: {len(found.samples)} samples")
    if report is not None:
        files.make_report(found, path, report)
    return 0


def show(found: Results) -> None:
    from fairlock_lab.benchmarks import short, tables, targets

    tables.print_head(found)
    if found.plan.workload in request.ROW_WORKLOADS:
        request.ROW_WORKLOADS[found.plan.workload].print_table(found)
    elif found.plan.workload == "short":
        short.print_short(found)
    else:
        tables.print_results(found)
        if found.plan.workload == "targets":
            targets.print_targets(found)


def print_list() -> None:
    for name, composite in COMPOSITES.items():
        print(f"{name}\n    {composite.title}")
    for name, workload in WORKLOADS.items():
        print(f"{name}\n    {workload.title}")
        if workload.paper:
            print(f"    {workload.paper}")
        for config, one in workload.configs.items():
            print(f"      {config:22} {one.title}{'' if one.chosen else ' (only with --config)'}")
    for name, rows in request.ROW_WORKLOADS.items():
        print(f"{name}\n    {rows.title}")
