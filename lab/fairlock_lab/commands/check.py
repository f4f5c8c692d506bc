# SPDX-License-Identifier: Apache-2.0
"""``fairlock check``: explore the locks of the catalogue, or the mutants planted in them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Literal

from fairlock import table
from fairlock.usage import UsageError, one_of
from fairlock_lab import _native
from fairlock_lab.checking import coverage
from fairlock_lab.checking.plan import Run, plan

MAX_STATES = 100_000_000
SCENARIOS = _native.scenarios


@dataclass
class Row:
    """What came of a run; also a row of the JSON output."""

    run: Run
    states: int
    complete: bool
    seconds: float
    verdict: Literal["holds", "violated", "incomplete", "killed", "survived"]
    property: str | None = None
    what: str = ""
    schedule: str = ""

    def as_json(self) -> dict[str, object]:
        row: dict[str, object] = asdict(self.run)
        row |= {key: value for key, value in asdict(self).items() if key != "run"}
        return row


def explore(run: Run, max_states: int, running: set[_native.Check]) -> Row:
    """Make one run."""
    check = make_check(run, max_states)
    running.add(check)
    began = time.monotonic()
    try:
        result = check.run()
    except RuntimeError as error:  # the checker has no room for it
        return Row(run, check.states, False, time.monotonic() - began, "incomplete", what=str(error))
    finally:
        running.discard(check)
    verdict = verdict_of(result["property"], result["complete"])
    rest = (result["property"], result["what"], result["schedule"])
    return Row(run, result["states"], result["complete"], result["seconds"], verdict, *rest)


def reduce(run: Run, max_executions: int, running: set[_native.Check]) -> Row:
    """Make one run with the second engine, whose states are executions."""
    check = make_check(run, max_executions)
    running.add(check)
    began = time.monotonic()
    try:
        result = check.traces(reduce=True)
    finally:
        running.discard(check)
    complete = result["complete"] or result["property"] is not None
    verdict = verdict_of(result["property"], complete)
    rest = (result["property"], result["what"], result["schedule"])
    return Row(run, result["executions"], complete, time.monotonic() - began, verdict, *rest)


def verdict_of(violated: str | None, complete: bool) -> Literal["holds", "violated", "incomplete"]:
    if violated is not None:
        return "violated"
    return "holds" if complete else "incomplete"


def hunt(runs: list[Run], max_states: int, running: set[_native.Check]) -> Row:
    """Make the runs of one mutant until one of them kills it."""
    states, seconds = 0, 0.0
    for run in runs:
        row = explore(run, max_states, running)
        states += row.states
        seconds += row.seconds
        if row.property is not None:
            return replace(row, states=states, seconds=seconds, verdict="killed")
    return replace(row, states=states, seconds=seconds, verdict="survived")


# What is done on one thread; the checks that it is busy with are in the set.
Task = Callable[[set[_native.Check]], Row]


@dataclass
class Progress:
    """The line on the terminal that says how far we are."""

    total: int
    began: float = field(default_factory=time.monotonic)
    done: int = 0
    states: int = 0
    shown: bool = False

    def draw(self, running: set[_native.Check], latest: str) -> None:
        if not sys.stderr.isatty():
            return
        seconds = time.monotonic() - self.began
        states = self.states + sum(check.states for check in tuple(running))
        line = f"[{self.done}/{self.total}] {states:,} states, {seconds:.0f} s   {latest}"
        print(f"\r\x1b[K{line[:110]}", end="", file=sys.stderr, flush=True)
        self.shown = True

    def clear(self) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def perform(tasks: list[Task], labels: list[str], jobs: int) -> tuple[list[Row], bool]:
    """Make the tasks on `jobs` threads; return what is done, and whether all of it is."""
    running: set[_native.Check] = set()
    progress = Progress(len(tasks))
    rows: dict[int, Row] = {}
    latest = ""
    with ThreadPoolExecutor(jobs) as pool:
        waiting: dict[Future[Row], int] = {pool.submit(task, running): number for number, task in enumerate(tasks)}
        try:
            while waiting:
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    number = waiting.pop(future)
                    rows[number] = future.result()
                    progress.done += 1
                    progress.states += rows[number].states
                    latest = labels[number]
                progress.draw(running, latest)
        except KeyboardInterrupt:
            for future in waiting:
                future.cancel()
            for check in tuple(running):
                check.cancel()
        finally:
            progress.clear()
    return [rows[number] for number in sorted(rows)], not waiting


def summary(rows: list[Row]) -> str:
    """Return the table of `fairlock check`: a line for each lock."""
    lines = []
    for name in dict.fromkeys(row.run.name for row in rows):
        own = [row for row in rows if row.run.name == name]
        sizes = sorted({f"{row.run.threads}x{row.run.episodes}" for row in own})
        verdicts = {row.verdict for row in own}
        verdict = next(v for v in ("violated", "incomplete", "holds") if v in verdicts)
        memories = "+".join(m for m in ("sc", "weak") if any(row.run.memory == m for row in own))
        scenarios = " ".join(s for s in SCENARIOS if any(row.run.scenario == s for row in own))
        states = sum(row.states for row in own)
        lines.append([name, len(own), memories, " ".join(sizes), scenarios, f"{states:,}", verdict])
    header = ["name", "runs", "memory", "threads x episodes", "scenarios", "states", "verdict"]
    return table.render(header, lines, right=["runs", "states"])


def totals(rows: list[Row], seconds: float, jobs: int) -> str:
    """Return the last line: how much was explored, and how fast."""
    parts = [f"{len(rows)} runs, {sum(row.states for row in rows):,} states in {seconds:.1f} s"]
    for memory in ("sc", "weak"):
        own = [row for row in rows if row.run.memory == memory]
        busy = sum(row.seconds for row in own) / min(jobs, len(own) or 1)
        if busy > 0.01:
            parts.append(f"{memory}: {sum(row.states for row in own) / busy / 1e6:.2f} M states/s")
    return "; ".join(parts) + f" (on {jobs} thread{'s' if jobs > 1 else ''})"


def describe(row: Row) -> str:
    """Return the readable trace of a violation, and how to see it again."""
    replayed = _native.replay(*row.run.arguments(), row.schedule)
    width = len(str(len(replayed["lines"])))
    steps = [f"  {number:{width}}  {line}" for number, line in enumerate(replayed["lines"], 1)]
    head = f"{row.run}: {row.property}: {row.what}"
    return "\n".join([head, *steps, f"  again: {row.run.command(row.schedule)}"])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to check, or which mutants; everything without")
    parser.add_argument(
        "--coverage", action="store_true", help="print a table of the explored scenarios, memory models and bounds"
    )
    parser.add_argument("--deep", action="store_true", help="explore larger bounds; takes up to an hour")
    parser.add_argument("--mutants", action="store_true", help="find the planted bugs instead")
    parser.add_argument("--litmus", action="store_true", help="check the memory models by litmus tests instead")
    parser.add_argument("--mutant", metavar="NAME", default="", help="explore one planted bug at the given bounds")
    parser.add_argument("--threads", type=int, metavar="N", help="1 to 4")
    parser.add_argument("--episodes", type=int, metavar="M", help="1 to 8 for each thread")
    parser.add_argument("--slots", type=int, metavar="S", help="of the waiting array: 1, 2 or 4")
    parser.add_argument("--memory", metavar="sc|weak", help="sequentially consistent, or weak")
    parser.add_argument("--scenario", metavar="NAME", help=", ".join(SCENARIOS))
    parser.add_argument("--schedule", metavar="STRING", help="replay this schedule, step by step")
    parser.add_argument("--max-states", type=int, default=MAX_STATES, metavar="N", help="give up a run after N states")
    parser.add_argument(
        "--engine", default="states", metavar="states|dpor", help="the default, or partial-order reduction (sc only)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="threads to explore on")
    parser.add_argument("--json", action="store_true", help="a row for each run, as JSON")


def run(args: argparse.Namespace) -> int:
    validate(args)
    if args.schedule is not None:
        return replay(args)
    if args.litmus:
        return run_litmus(args)
    if args.mutants:
        return run_mutants(args)
    subjects = {subject["name"]: subject for subject in _native.subjects()}
    for name in args.names:
        if name not in subjects:
            raise UsageError(one_of("name", name, subjects))
    if args.mutant:
        runs = [chosen_run(args, "")]
    elif has_bounds(args):
        locks = [name for name, s in subjects.items() if not s["variation"] and "rounds" in s["scenarios"]]
        names = args.names or locks
        runs = [chosen_run(args, name) for name in names]
    else:
        runs = plan((subjects[name] for name in args.names or subjects), deep=args.deep)
        if args.engine == "dpor":
            runs = [run for run in runs if fits_without_states(run)]
    return report(args, runs)


def fits_without_states(run: Run) -> bool:
    """Whether the second engine, which keeps no set of states, explores this run in seconds."""
    if run.memory != "sc" or run.slots != 1 or run.threads * run.episodes > 4:
        return False
    if run.scenario == "full-table":
        return False  # a thread that retries for ever has traces without end
    return run.threads < 4 or run.scenario.startswith("notify")


def report(args: argparse.Namespace, runs: list[Run]) -> int:
    for each in runs:  # whatever does not fit is said before anything runs
        make_check(each)
    began = time.monotonic()
    tasks: list[Task] = [
        partial(reduce, each, args.max_states) if args.engine == "dpor" else partial(explore, each, args.max_states)
        for each in runs
    ]
    rows, finished = perform(tasks, [str(each) for each in runs], args.jobs)
    seconds = time.monotonic() - began
    if args.json:
        print(json.dumps([row.as_json() for row in rows], indent=2))
    elif args.coverage:
        print(coverage.render(row.as_json() for row in rows))
    else:
        print(summary(rows))
        print(f"\n{totals(rows, seconds, args.jobs)}")
    bad = [row for row in rows if row.verdict == "violated"]
    out = sys.stderr if args.json else sys.stdout
    for row in bad:
        print(f"\n{describe(row)}", file=out)
    for row in rows:
        if row.verdict == "incomplete" and finished:
            why = row.what or f"{row.states:,} states were the limit (--max-states)"
            print(f"\n{row.run}: not complete: {why}", file=out)
    if not finished:
        print(f"interrupted: {len(rows)} of {len(runs)} runs are complete", file=sys.stderr)
        return 130
    return 1 if bad or any(row.verdict == "incomplete" for row in rows) else 0


def run_mutants(args: argparse.Namespace) -> int:
    known = {mutant["name"]: mutant for mutant in _native.mutants()}
    subjects = {subject["name"]: subject for subject in _native.subjects()}
    chosen = []
    for name in args.names or known:
        own = [m for m in known.values() if name in (m["name"], m["lock"], m["lock"].split("/")[0])]
        if not own:
            raise UsageError(one_of("mutant", name, known))
        chosen += own
    tasks: list[Task] = []
    for mutant in chosen:
        runs = [replace(each, mutant=mutant["name"]) for each in plan([subjects[mutant["lock"]]])]
        # Cheap and telling first: the fewest threads and episodes, plain rounds before the rest.
        runs.sort(key=lambda r: (r.threads * r.episodes, r.memory, r.slots, SCENARIOS.index(r.scenario)))
        tasks.append(partial(hunt, runs, args.max_states))
    began = time.monotonic()
    rows, finished = perform(tasks, [mutant["name"] for mutant in chosen], args.jobs)
    seconds = time.monotonic() - began
    survivors = [row for row in rows if row.verdict == "survived"]
    if args.json:
        print(json.dumps([row.as_json() for row in rows], indent=2))
    else:
        header = ["mutant", "lock", "killed by", "memory", "size", "slots", "states", "the planted bug"]
        lines = [
            [
                row.run.mutant,
                row.run.name,
                row.property or "SURVIVED",
                row.run.memory,
                f"{row.run.threads}x{row.run.episodes}",
                row.run.slots,
                f"{row.states:,}",
                known[row.run.mutant]["what"],
            ]
            for row in rows
        ]
        print(table.render(header, lines, right=["slots", "states"]))
        print(f"\n{len(rows) - len(survivors)} of {len(rows)} mutants killed in {seconds:.1f} s")
    if not finished:
        return 130
    return 1 if survivors else 0


def run_litmus(args: argparse.Namespace) -> int:
    rows = _native.litmus()
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        lines = []
        for sc, weak in zip(rows[::2], rows[1::2], strict=True):
            answers = ["reachable" if row["found"] else "never" for row in (sc, weak)]
            right = all(row["found"] == row["expected"] and row["complete"] for row in (sc, weak))
            lines.append([sc["name"], *answers, "as expected" if right else "WRONG", sc["what"]])
        print(table.render(["litmus test", "sc", "weak", "", "the outcome"], lines))
    return 0 if all(row["found"] == row["expected"] for row in rows) else 1


def replay(args: argparse.Namespace) -> int:
    names = args.names or ([""] if args.mutant else [])
    if len(names) != 1:
        raise UsageError("--schedule replays one lock: fairlock check NAME --schedule STRING, or --mutant NAME")
    if not args.schedule:
        raise UsageError("--schedule: a schedule is letters A to D, each with an optional number: AAB1C")
    each = chosen_run(args, names[0])
    make_check(each)
    try:
        result = _native.replay(*each.arguments(), args.schedule)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if args.json:
        print(json.dumps(asdict(each) | dict(result), indent=2))
    else:
        width = len(str(len(result["lines"])))
        for number, line in enumerate(result["lines"], 1):
            print(f"{number:{width}}  {line}")
        if result["skipped"]:
            steps = "1 step" if result["skipped"] == 1 else f"{result['skipped']} steps"
            print(f"\nskipped {steps}: the schedule was recorded with another version of the lock")
        print(f"\n{result['property']}: {result['what']}" if result["property"] else "\nholds: no property is violated")
    return 1 if result["property"] else 0


def has_bounds(args: argparse.Namespace) -> bool:
    return any(getattr(args, name) is not None for name in ("threads", "episodes", "slots", "memory", "scenario"))


def chosen_run(args: argparse.Namespace, name: str) -> Run:
    """Return the run that the options describe."""
    known = {mutant["name"]: mutant["lock"] for mutant in _native.mutants()}
    if args.mutant:
        if args.mutant not in known:
            raise UsageError(one_of("mutant", args.mutant, known))
        name = known[args.mutant]
    names = [subject["name"] for subject in _native.subjects()]
    if name not in names:
        raise UsageError(one_of("name", name, names))
    given = {
        key: value
        for key in ("threads", "episodes", "slots", "memory", "scenario")
        if (value := getattr(args, key)) is not None
    }
    if name == "hapax-seqlock":
        given = {"scenario": "record", "threads": 3, "episodes": 1} | given
    return Run(name, mutant=args.mutant, **given)


def make_check(each: Run, max_states: int = MAX_STATES) -> _native.Check:
    name, scenario, threads, episodes, slots, memory, mutant = each.arguments()
    try:
        return _native.Check(name, scenario, threads, episodes, slots, memory, mutant, max_states)
    except ValueError as error:
        raise UsageError(str(error)) from None


def validate(args: argparse.Namespace) -> None:
    """Check the bounds, whatever else is asked."""
    limits: dict[str, Iterable[object]] = {
        "threads": range(1, 5),
        "episodes": range(1, 9),
        "slots": (1, 2, 4),
        "memory": ("sc", "weak"),
        "scenario": SCENARIOS,
        "engine": ("states", "dpor"),
    }
    for name, valid in limits.items():
        value = getattr(args, name)
        if value is not None and value not in valid:
            raise UsageError(f"--{name} {value}: choose from {', '.join(map(str, valid))}")
    other_mode = has_bounds(args) or args.mutants or args.mutant or args.litmus or args.schedule
    if (args.deep or args.coverage) and other_mode:
        raise UsageError("--deep and --coverage choose the bounds themselves: combine them with lock names only")
    if args.names and (args.litmus or args.mutant):
        mode = "--litmus" if args.litmus else f"--mutant {args.mutant}"
        raise UsageError(f"{mode} takes no names of locks: remove {' '.join(args.names)}")
    if args.engine == "dpor" and (args.memory == "weak" or args.mutants):
        raise UsageError("--engine dpor explores locks, or one --mutant, under --memory sc")
    if args.jobs < 1 or args.max_states < 1:
        raise UsageError("--jobs and --max-states: 1 or more")
