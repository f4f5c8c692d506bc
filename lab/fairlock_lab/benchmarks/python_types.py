# SPDX-License-Identifier: Apache-2.0
"""The Python types against those of ``threading``: what is measured, the targets, and one sample."""

from __future__ import annotations

import importlib
import json

from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point
from fairlock_lab.benchmarks.rows import Mean, Row, RowWorkload, Wanted, sample_in_child

WORKLOAD = "python"
LOOP = "n += 1"
WORK = "crc32 of 16 KiB"  # about 7 microseconds; with a GIL, it lets go of it
STEPS = ((10, 10), (100, 100), (10, 1000), (1000, 1000), (1000, 10000))  # of a loop: inside and outside the lock


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
    return Row(title, "contended", ours, theirs, wanted, threads, hogs, {"body": body}, seconds=3.0, windowed=True)


def work_outside(threads: int, inside: int, outside: int) -> Row:
    """Return the row of threads that also work outside the lock. A step adds one to a number, in a loop."""
    wanted = (
        Wanted("speed / threading's", "throughput", least=0.95),
        Wanted("slowest/fastest", "fairness", "ours", at_least_theirs=True),
        Wanted("  threading's", "fairness", "theirs"),
        Wanted("processors kept busy", "busy_processors", "ours"),
        Wanted("  threading's", "busy_processors", "theirs"),
    )
    name = f"Lock(), {threads} threads, {inside} steps inside, {outside} outside"
    options: dict[str, Option] = {"inside": inside, "outside": outside}
    return Row(name, "work-outside", "fairlock.Lock", "threading.Lock", wanted, threads, 0, options, windowed=True)


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


def rows_for(python: str) -> list[Row | Mean]:
    """Return the rows, with their targets, that a Python is measured by."""
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
        # With a GIL the interpreter decides who runs, unless the work lets go of it.
        return [
            *rows,
            contended("Semaphore(1)", semaphore, their_semaphore, 8, body=WORK, speed=2.5, fairness=0.8),
            # The only row with work outside: the others would say nothing about the lock, because a thread that holds
            # the GIL for 5 ms goes through thousands of turns alone. Here it loses the GIL inside the lock half of the
            # time, and the other threads have to wait.
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
            Wanted("speed / threading's", "throughput", least=1.1),
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
    """Measure once, in a process of its own: `one` says how."""
    words = [point.config, point.lock, str(point.threads), str(point.hogs), str(point.seconds), str(plan.warm_up)]
    return sample_in_child(
        ["-m", "fairlock_lab.benchmarks.python_sample", *words, json.dumps(dict(point.options))], point.seconds
    )
