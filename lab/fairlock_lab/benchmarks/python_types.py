# SPDX-License-Identifier: Apache-2.0
"""The Python types against those of ``threading``: the rows, the targets, and how a sample is taken."""

from __future__ import annotations

import importlib
import json

from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point
from fairlock_lab.benchmarks.rows import Mean, Row, RowFigure, RowWorkload, sample_in_child

WORKLOAD = "python"
LOOP = "n += 1"
WORK = "crc32 of 16 KiB"  # about 7 microseconds; it releases the GIL
STEPS = ((10, 10), (100, 100), (10, 1000), (1000, 1000), (1000, 10000))  # of loops inside and outside the lock


# --- rows ---


def uncontended(name: str, most: float) -> Row:
    figure = RowFigure("time / threading's", "ns", most=most)
    return Row(f"uncontended with {name}()", "uncontended", f"fairlock.{name}", f"threading.{name}", (figure,))


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
    figures = (
        RowFigure("speed / threading's", "throughput", least=speed),
        RowFigure("slowest/fastest", "fairness", "ours", least=fairness),
        RowFigure("  threading's", "fairness", "theirs"),
        RowFigure("longest wait / threading's", "longest_wait", most=longest),
        RowFigure("  ours, ms", "longest_wait", "ours", unit=1000),
    )
    title = f"{name}, {threads} threads, {body}{beside}"
    # In a window of one second, chance decides the fairness of 32 threads.
    return Row(title, "contended", ours, theirs, figures, threads, hogs, {"body": body}, seconds=3.0, windowed=True)


def work_outside(threads: int, inside: int, outside: int) -> Row:
    """Return the row of threads that also work outside the lock. A step of the loop adds one to a number."""
    figures = (
        RowFigure("speed / threading's", "throughput", least=0.95),
        RowFigure("slowest/fastest", "fairness", "ours", at_least_theirs=True),
        RowFigure("  threading's", "fairness", "theirs"),
        RowFigure("processors kept busy", "busy_processors", "ours"),
        RowFigure("  threading's", "busy_processors", "theirs"),
    )
    name = f"Lock(), {threads} threads, {inside} steps inside, {outside} outside"
    options: dict[str, Option] = {"inside": inside, "outside": outside}
    return Row(name, "work-outside", "fairlock.Lock", "threading.Lock", figures, threads, 0, options, windowed=True)


def condition(most: float) -> Row:
    figure = RowFigure("time / threading's", "throughput", most=most, inverse=True)
    return Row(
        "Condition ping-pong",
        "ping-pong",
        "fairlock.Condition",
        "threading.Condition",
        (figure,),
        threads=2,
        windowed=True,
    )


def reacquired(algorithm: str, most: int) -> Row:
    figure = RowFigure("most re-acquisitions before a waiter", "reacquisitions", "most of ours", most=most)
    name = f"Lock({algorithm!r}), owner that re-acquires at once"
    return Row(name, "re-acquisition", f"fairlock.Lock({algorithm!r})", None, (figure,), threads=2, seconds=0.1)


def memory() -> Row:
    figure = RowFigure("bytes", "bytes", "ours", most=128)
    return Row("memory of a Lock()", "memory", "fairlock.Lock", None, (figure,), seconds=0.1)


def rows_for(python: str) -> list[Row | Mean]:
    """Return the rows for a Python, with their targets."""
    free_threaded = python.endswith("free-threaded")
    old = tuple(map(int, python.split()[0].split(".")[:2])) <= (3, 11)
    rows: list[Row | Mean] = [
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
        # With a GIL, the interpreter decides which thread runs, unless the work releases the GIL.
        return [
            *rows,
            contended("Semaphore(1)", semaphore, their_semaphore, 8, body=WORK, speed=2.5, fairness=0.8),
            # The only row with work outside. In the others, a thread would keep the GIL for 5 ms and take thousands of
            # turns alone, which says nothing about the lock. Here a thread loses the GIL inside the lock half of the
            # time, so the other threads have to wait for the lock.
            work_outside(8, 1000, 1000),
        ]
    outside = [work_outside(threads, *steps) for threads in (2, 8, 32) for steps in STEPS]
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
        *outside,
        Mean(
            "geometric mean of the rows with work outside",
            RowFigure("speed / threading's", "throughput", least=1.1),
            outside,
        ),
    ]


PYTHON = RowWorkload(WORKLOAD, "the Python types against those of threading, on this Python", rows_for)


# --- one sample ---


def missing(point: Point) -> str:
    if point.config == "uncontended":
        try:
            importlib.import_module("pyperf")
        except ImportError:
            return "the uncontended rows need pyperf: pip install 'fairlock[lab]'"
    return ""


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample, in a new process that runs ``python_sample``."""
    words = [point.config, point.lock, str(point.threads), str(point.hogs), str(point.seconds), str(plan.warm_up)]
    return sample_in_child(
        ["-m", "fairlock_lab.benchmarks.python_sample", *words, json.dumps(dict(point.options))], point.seconds
    )
