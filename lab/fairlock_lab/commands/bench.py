# SPDX-License-Identifier: Apache-2.0
"""Compare locks with those that a program would otherwise use, in interleaved runs."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from pathlib import Path

from fairlock import signals
from fairlock.usage import INTERRUPTED, UsageError
from fairlock_lab.benchmarks import library, native, request
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.harness import BenchInterrupted, FailedRunError
from fairlock_lab.benchmarks.output_files import check_page, check_writable, make_folder
from fairlock_lab.benchmarks.progress import TerminalProgress
from fairlock_lab.benchmarks.results import BenchResults, save
from fairlock_lab.benchmarks.workloads import WORKLOADS

FAILED = 1  # exit status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "workload", nargs="?", metavar="WORKLOAD", help=f"one of: {', '.join(request.workload_names())}"
    )
    parser.add_argument(
        "--list", action="store_true", help="print the workloads, their configs, and the waiting policies"
    )
    group = parser.add_argument_group("what to measure (default: as in the papers)")
    group.add_argument("--config", metavar="A,B", help="configs of the workload, or all")
    group.add_argument("--locks", metavar="A,B", help="locks or semaphores, or all; references are added")
    group.add_argument("--no-references", action="store_true", help="leave out pthread_mutex and the other references")
    group.add_argument("--waiting", metavar="A,B", help="waiting policies; --list prints them")
    group.add_argument("--threads", metavar="1,2,4", help="numbers of threads")
    group.add_argument("--seconds", type=float, metavar="S", help="length of the window in which turns are counted")
    group.add_argument("--runs", type=int, metavar="N", help="number of runs; the tables show their medians")
    group.add_argument("--pin", action="store_true", help="pin each thread to a processor")
    group.add_argument("--hogs", type=int, metavar="N", help="run N processes that burn CPU beside the samples")
    group.add_argument("--seed", type=int, metavar="X", help="seed of the order and the work (default: random)")
    group.add_argument("--set", action="append", metavar="OPTION=VALUE", help="change an option of the workload")
    group.add_argument("--only", metavar="A,B", help="python, install: only rows whose names contain A or B")
    group = parser.add_argument_group("files")
    group.add_argument(
        "--json", type=Path, metavar="FILE", help="write each sample to this file as soon as it is taken"
    )
    group.add_argument("--report", type=Path, metavar="FILE.html", help="write a page of the results")
    group.add_argument("--resume", type=Path, metavar="FILE", help="take the samples that an interrupted run lacks")
    group.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="repeat the plan of FILE: same order, same seeds"
    )
    group.add_argument("--anyway", action="store_true", help="with --resume: even if FILE is from another machine")


def run(args: argparse.Namespace) -> int:
    choose_signals()
    if args.list:
        print_list()
        return 0
    bench_request = request_of(args)
    if args.report is not None:
        check_drawing_library()
    if args.resume is not None:
        refuse_others(
            args, bench_request, ("workload", "source", "json"), f"--resume continues the plan in {args.resume}"
        )
        results, path = request.results_to_resume(args.resume, anyway=args.anyway), args.resume
        if not results.complete:
            check_writable(path)
    elif args.source is not None:
        refuse_others(args, bench_request, ("workload",), f"--from repeats the plan in {args.source} as it is")
        results, path = request.results_to_repeat(args.source, args.json), args.json
    else:
        results = bench_request.new_results(args.json)
        path = args.json or default_file(args.workload, "results.json")
    page = args.report or default_file(args.workload, "report.html")
    if path is not None and path != args.resume:
        check_writable(path)
    if page is not None:
        check_page(page, *(file for file in (path, args.source) if file is not None))
    return carry_out(results, path, page)


def request_of(args: argparse.Namespace) -> request.Request:
    return request.Request(
        args.workload,
        config=args.config,
        locks=args.locks,
        waiting=args.waiting,
        threads=args.threads,
        seconds=args.seconds,
        runs=args.runs,
        references=not args.no_references,
        pin=args.pin,
        hogs=args.hogs,
        seed=args.seed,
        options=args.set,
        only=args.only,
    )


def refuse_others(args: argparse.Namespace, bench_request: request.Request, fixed: tuple[str, ...], why: str) -> None:
    """Raise UsageError if another argument says what to measure: the plan of the file already does."""
    bench_request.check_numbers()
    others = any(getattr(args, name) is not None for name in fixed)
    if others or bench_request != request.Request(args.workload):
        raise UsageError(f"{why}: leave the other options out")


def default_file(workload: str | None, name: str) -> Path | None:
    """Return the file that a composite workload writes unless the user names another, in a folder that exists."""
    composite = COMPOSITES.get(workload or "")
    if composite is None or composite.folder is None:
        return None
    make_folder(Path(composite.folder), " (--json and --report name other files)")
    return Path(composite.folder) / name


def choose_signals() -> None:
    signals.all_as_ctrl_c()
    if signals.in_main_thread():
        # If the parent ignored SIGCHLD, so would this process, and it could not learn how its children ended.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def carry_out(results: BenchResults, path: Path | None, page: Path | None) -> int:
    """Take the remaining samples and print all of them. Samples that were taken before a failure are kept."""
    interrupted = False
    try:
        with TerminalProgress() as progress:
            results = library.measure(results, path, progress)
    except FailedRunError as error:
        if error.results.samples:
            print_stopped(error.results, kept_file(error.results, path))
        print(f"fairlock: {error}", file=sys.stderr)
        return FAILED
    except BenchInterrupted as error:
        results, interrupted = error.results, True
        path = kept_file(results, path)  # before the tables are printed, because a user may press Ctrl-C again
    if results.samples:
        show(results)
    if interrupted:
        sys.stdout.flush()
        print_stopped(results, path)
        return INTERRUPTED
    if path is not None:
        print(f"\n{path}: {len(results.samples)} samples")
    if page is not None:
        make_page(results, path, page)
    return 0


def show(results: BenchResults) -> None:
    text = str(results)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        text = re.sub(r"\bmet$|^met\b", "\033[32m\\g<0>\033[0m", text, flags=re.MULTILINE)
        text = re.sub(r"\bMISSED$|^MISSED\b", "\033[31m\\g<0>\033[0m", text, flags=re.MULTILINE)
    print(text)


def kept_file(results: BenchResults, path: Path | None) -> Path | None:
    """Return the file with the samples of an interrupted run. If the user named none, write one."""
    if path is None and results.samples:
        stamp = results.created.translate({ord(c): None for c in "-:Z"}).replace("T", "-")
        path = Path(f"fairlock-{results.plan.workload}-{stamp}.json")
        save(results, path)
    return path


def print_stopped(results: BenchResults, path: Path | None) -> None:
    """Print how many samples are kept, and how to continue."""
    done, planned = len(results.samples), len(results.plan.order)
    text = "stopped before the first sample: nothing is kept"
    if done:
        text = f"stopped: {done} of {planned} samples are in {path}; continue with: fairlock bench --resume {path}"
    print(text, file=sys.stderr)


# --- the page ---


def check_drawing_library() -> None:
    from fairlock_lab.reports.library import drawing_library

    drawing_library()


def make_page(results: BenchResults, path: Path | None, page: Path) -> None:
    """Make the page as `fairlock report` does, and print where it is, or why there is none."""
    from fairlock_lab.reports.library import MissingError, report, summary

    try:
        print(summary(report(path or results, out=page), page))
    except MissingError as error:
        print(f"no report: {error}")


# --- the list ---


def print_list() -> None:
    for name, composite in COMPOSITES.items():
        print(f"{name}\n    {composite.title}")
    for name, workload in WORKLOADS.items():
        print(f"{name}\n    {workload.title}")
        if workload.paper:
            print(f"    {workload.paper}")
        for key, config in workload.configs.items():
            print(f"      {key:22} {config.title}{'' if config.default else ' (only with --config)'}")
    for name, rows in request.ROW_WORKLOADS.items():
        print(f"{name}\n    {rows.title}")
    if policies := native.policies():
        print(f"\nwaiting policies: {', '.join(policies)}")
