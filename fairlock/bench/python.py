"""The Python types against those of ``threading``: the rows, their targets, and the table made from results.

A ratio is the median over the runs of the two samples of one run. Even two runs of the same lock differ on a machine
that others use too, so read the range. A missed target is printed as missed; the exit status is 0 all the same.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairlock import table
from fairlock.bench import machine
from fairlock.bench.figures import Figure, Table
from fairlock.bench.other_work import OtherWork
from fairlock.bench.process import GRACE, SampleError, call
from fairlock.bench.results import Metrics, Option, Plan, Point, Results
from fairlock.usage import UsageError

WORKLOAD = FAMILY = "python"
WARM_UP = 0.15
RUNS = 7
LOOP = "n += 1"
WORK = "crc32 of 16 KiB"  # about 7 microseconds; with a GIL, it lets go of it


@dataclass(frozen=True)
class Wanted:
    """A figure of a row: what it is, and what it should be."""

    what: str
    measure: str
    of: str = "ratio"  # to threading's; "ours" and "theirs": the figure itself
    most: float | None = None
    least: float | None = None
    unit: float = 1.0
    inverse: bool = False  # turns a second into time

    def met(self, value: float) -> bool | None:
        if self.most is not None:
            return value <= self.most
        return value >= self.least if self.least is not None else None

    def target(self) -> str:
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}" if self.least is not None else ""


@dataclass(frozen=True)
class Row:
    name: str
    config: str  # how it is measured: see `one`
    ours: str
    theirs: str | None
    wanted: tuple[Wanted, ...]
    threads: int = 1
    hogs: int = 0
    body: str | None = None
    seconds: float = 1.0
    windowed: bool = False  # --seconds says for how long

    def points(self, seconds: float | None) -> list[Point]:
        """Return what is measured for this row: ours, and theirs."""
        window = seconds if seconds is not None and self.windowed else self.seconds
        options: dict[str, Option] = {"body": self.body} if self.body else {}
        locks = [self.ours, *([self.theirs] if self.theirs else [])]
        return [
            Point(WORKLOAD, self.config, lock, None, None, self.threads, self.hogs, window, FAMILY, options)
            for lock in locks
        ]

    def find(self, samples: Table, lock: str | None) -> int | None:
        found = samples.find(config=self.config, lock=lock, threads=self.threads, hogs=self.hogs)
        return next((i for i in found if samples.points[i].options.get("body") == self.body), None)


# --- rows ---


def uncontended(name: str, most: float) -> Row:
    wanted = Wanted("time / threading's", "ns", most=most)
    return Row(f"uncontended with {name}()", "uncontended", f"fairlock.{name}", f"threading.{name}", (wanted,))


def contended(
    name: str,
    ours: str,
    theirs: str,
    threads: int,
    *,
    body: str = LOOP,
    hogs: int = 0,
    speed: float,
    fairness: float | None = None,
    longest: float | None = None,
) -> Row:
    beside = f", beside {hogs} hogs" if hogs else ""
    wanted = (
        Wanted("speed / threading's", "throughput", least=speed),
        Wanted("slowest/fastest", "fairness", "ours", least=fairness),
        Wanted("  threading's", "fairness", "theirs"),
        Wanted("longest wait / threading's", "longest_wait", most=longest),
        Wanted("  ours, ms", "longest_wait", "ours", unit=1000),
    )
    title = f"{name}, {threads} threads, {body}{beside}"
    # In windows of a second, the fairness of 32 threads is chance.
    return Row(title, "contended", ours, theirs, wanted, threads, hogs, body, seconds=3.0, windowed=True)


def condition(most: float) -> Row:
    wanted = Wanted("time / threading's", "throughput", most=most, inverse=True)
    return Row(
        "Condition ping-pong",
        "ping-pong",
        "fairlock.Condition",
        "threading.Condition",
        (wanted,),
        threads=2,
        windowed=True,
    )


def reacquired(algorithm: str, most: int) -> Row:
    wanted = Wanted("re-acquisitions before a waiter, most", "reacquisitions", "most of ours", most=most)
    name = f"Lock({algorithm!r}), holder that re-acquires at once"
    return Row(name, "re-acquisition", f"fairlock.Lock({algorithm!r})", None, (wanted,), threads=2, seconds=0.1)


def memory() -> Row:
    wanted = Wanted("bytes", "bytes", "ours", most=128)
    return Row("memory of a Lock()", "memory", "fairlock.Lock", None, (wanted,), seconds=0.1)


def rows_for(python: str) -> list[Row]:
    """Return the rows, with their targets, that a Python is measured by."""
    free_threaded = python.endswith("free-threaded")
    old = tuple(map(int, python.split()[0].split(".")[:2])) <= (3, 11)
    rows = [
        uncontended("Lock", 0.65 if free_threaded else 0.55 if old else 0.6),
        uncontended("RLock", 0.6),
        uncontended("Semaphore", 0.1),
        uncontended("BoundedSemaphore", 0.1),
        condition(0.5 if free_threaded else 0.9),
        memory(),
        reacquired("twa", 1),
        reacquired("fair", 512),
    ]
    lock, semaphore, strict = "fairlock.Lock", "fairlock.Semaphore", "fairlock.Semaphore('twa-semaphore')"
    their_lock, their_semaphore = "threading.Lock", "threading.Semaphore"
    if not free_threaded:
        # With a GIL the interpreter decides who runs, unless the work lets go of it.
        return [
            *rows,
            contended("Semaphore(1)", semaphore, their_semaphore, 8, body=WORK, speed=2.5, fairness=0.8),
        ]
    return [
        *rows,
        *(
            contended("Lock()", lock, their_lock, threads, speed=speed, fairness=0.85, longest=3)
            for threads, speed in ((2, 1.2), (8, 0.95), (32, 1.0))
        ),
        *(
            contended("Lock()", lock, their_lock, threads, body=WORK, speed=speed, fairness=0.85)
            for threads, speed in ((8, 1.2), (32, 1.6))
        ),
        contended("Lock()", lock, their_lock, 32, hogs=2, speed=1.1, fairness=0.7, longest=0.5),
        *(contended("Semaphore(1)", semaphore, their_semaphore, n, speed=8, fairness=0.85) for n in (2, 8, 32)),
        *(
            contended("strict Semaphore(1)", strict, their_semaphore, threads, speed=speed)
            for threads, speed in ((2, 1.5), (8, 0.25), (32, 0.5))
        ),
        contended("strict Semaphore(1)", strict, their_semaphore, 32, hogs=2, speed=0.8),
    ]


def chosen(words: Sequence[str]) -> list[Row]:
    """Return this Python's rows that have one of these words in their names; all, if there are no words."""
    rows = rows_for(machine.python())
    found = [row for row in rows if not words or any(word in row.name for word in words)]
    if not found:
        names = "; ".join(row.name for row in rows)
        raise UsageError(f"no row has one of these words: {','.join(words)}; there are: {names}")
    return found


def points_of(rows: Sequence[Row], seconds: float | None) -> list[Point]:
    points: list[Point] = []
    for row in rows:
        points += [point for point in row.points(seconds) if point not in points]  # rows may share their rival
    return points


# --- one sample ---


def missing(point: Point) -> str:
    if point.config == "uncontended":
        try:
            importlib.import_module("pyperf")
        except ImportError:
            return "the uncontended rows need pyperf: pip install 'fairlock[lab]'"
    return ""


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Measure once, in a process of its own: `one` says how."""
    words = [point.config, point.lock, str(point.threads), str(point.hogs), str(point.seconds), str(plan.warm_up)]
    body = [str(point.options["body"])] if "body" in point.options else []
    # -P: in a clone, the sources in the current folder would hide the installed package.
    command = [sys.executable, "-P", "-m", "fairlock.bench.one", *words, *body]
    others = OtherWork()
    status, output, errors = call(command, 2 * point.seconds + 2 * GRACE)
    if status != 0:
        raise SampleError(errors.strip().splitlines()[-1] if errors.strip() else f"ended with status {status}")
    return {**json.loads(output), "other_work": others.share()}


# --- the table ---


def print_table(results: Results) -> None:
    samples = Table(results)
    lines, met = [], []
    for row in rows_for(str(results.machine["python"])):
        name = row.name
        for wanted, figure in figures(row, samples):
            verdict = wanted.met(figure.median)
            span = f"{figure.low:.2f} to {figure.high:.2f}" if figure.high > figure.low else ""
            mark = "" if verdict is None else "met" if verdict else "MISSED"
            lines.append([name, wanted.what, f"{figure.median:.2f}", span, wanted.target(), mark])
            met += [] if verdict is None else [verdict]
            name = ""
    if not lines:
        return
    print(table.render(["what", "figure", "median", "half of the runs", "target", ""], lines, right=["median"]))
    print(f"\nPython {results.machine['python']}: {sum(met)} of {len(met)} targets met.")


def figures(row: Row, samples: Table) -> Iterator[tuple[Wanted, Figure]]:
    """Yield what was measured of a row."""
    ours, theirs = row.find(samples, row.ours), row.find(samples, row.theirs)
    for wanted in row.wanted:
        figure = None
        if wanted.of == "ratio" and ours is not None and theirs is not None:
            pair = (theirs, ours) if wanted.inverse else (ours, theirs)
            figure = samples.ratio(*pair, wanted.measure)
        elif wanted.of == "theirs" and theirs is not None:
            figure = samples.figure(theirs, wanted.measure)
        elif wanted.of == "ours" and ours is not None:
            figure = samples.figure(ours, wanted.measure)
        elif wanted.of == "most of ours" and ours is not None:
            figure = Figure.of([max(float(one.metrics[wanted.measure]) for one in samples.samples(ours))])
        if figure is not None:
            scale = wanted.unit
            yield wanted, Figure(figure.median * scale, figure.low * scale, figure.high * scale, figure.runs)
