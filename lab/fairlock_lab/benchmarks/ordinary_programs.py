# SPDX-License-Identifier: Apache-2.0
"""Ordinary Python programs with and without ``fairlock.install()``: the rows, and how a sample is taken."""

from __future__ import annotations

from pathlib import Path

from fairlock_lab.benchmarks.results import Metrics, Plan, Point
from fairlock_lab.benchmarks.rows import Row, RowFigure, RowWorkload, sample_in_child

WORKLOAD = "install"
STANDARD, INSTALLED = "threading", "fairlock.install()"
START = {STANDARD: (), INSTALLED: ("-m", "fairlock")}  # as a user would install fairlock
SCRIPT = str(Path(__file__).with_name("threaded_programs.py"))
SPEED = RowFigure("speed / threading's", "throughput", least=1.0)


def row(title: str, program: str, threads: int) -> Row:
    """Return the row of a program in ``threaded_programs.py``."""
    return Row(title, program, INSTALLED, STANDARD, (SPEED,), threads, seconds=0.5, windowed=True)


ROWS = (
    *(row(f"ThreadPoolExecutor.map, {n} workers", "executor-map", n) for n in (4, 16)),
    row("submit and as_completed, 4 workers", "as-completed", 4),
    *(row(f"queue.Queue, {n} + {n} threads", "queue", 2 * n) for n in (1, 4, 16)),
    row("tasks in a queue.Queue, 4 workers", "task-queue", 4),
    row("logging to a file, 8 threads", "logging", 8),
    *(row(f"LRU cache behind an RLock, {n} threads", "lru-cache", n) for n in (4, 16)),
    row("memoised function with a Lock, 8 threads", "memoised", 8),
    row("rate limiter with a Lock, 8 threads", "rate-limiter", 8),
    row("connection pool with a BoundedSemaphore, 8 threads", "connection-pool", 8),
    row("Event ping-pong, 2 threads", "event-ping-pong", 2),
    row("Barrier(4), 4 threads", "barrier", 4),
)
INSTALL = RowWorkload(WORKLOAD, "ordinary Python programs with and without fairlock.install()", lambda _: ROWS)


def missing(point: Point) -> str:
    return ""


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample, in a new process that checks that its locks come from the point's module."""
    module = point.lock.partition(".")[0]
    words = [point.config, str(point.threads), str(point.seconds), str(plan.warm_up), module]
    return sample_in_child([*START[point.lock], SCRIPT, *words], point.seconds)
