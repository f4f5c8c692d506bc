# SPDX-License-Identifier: Apache-2.0
"""Threads that contend for one lock. Their turns are counted in a window after a warm-up."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from fairlock_lab.benchmarks.results import Metrics

# The loop is source code, so that it contains only the lock and the work. The threads share globals, because a
# free-threaded Python counts references to other shared objects. Only WAITS times each wait, because that costs time.
LOOP = """
def work(lock, result, arrived):
    global n
    arrived.wait()
    best, window, own = 0, False, 0
    while not over:
        if window is not counting:
            best, window = 0, counting
        {turn}
"""
TURNS = """
        with lock:
            {inside}
        best += 1
        result[0] = best
        {outside}
"""
WAITS = """
        begin = now()
        lock.acquire()
        waited = now() - begin
        {inside}
        lock.release()
        if waited > best:
            result[0] = best = waited
"""

BODIES = {
    "n += 1": "n += 1",
    "crc32 of 16 KiB": "crc32(data)",  # about 7 microseconds; it releases the GIL
}
STEPS_INSIDE = "for _ in range({}): n += 1"
STEPS_OUTSIDE = "for _ in range({}): own += 1"


class Window(NamedTuple):
    results: list[Any]  # of each thread
    elapsed: float
    cpu_seconds: float


def crew(turn: str, lock: Any, threads: int, seconds: float, warm_up: float, inside: str, outside: str = "") -> Window:
    """Let threads contend for a lock, and run this source code inside and outside the lock."""
    world: dict[str, Any] = {
        "n": 0,
        "over": False,
        "counting": False,
        "now": time.perf_counter,
        "crc32": zlib.crc32,
        "data": bytes(16384),
    }
    exec(LOOP.format(turn=turn.strip().format(inside=inside, outside=outside)), world)
    arrived = threading.Barrier(threads + 1)
    results = [[0] for _ in range(threads)]
    team = [threading.Thread(target=world["work"], args=(lock, own, arrived), daemon=True) for own in results]
    for thread in team:
        thread.start()
    arrived.wait()
    time.sleep(warm_up)
    world["counting"] = True
    begin, before = time.perf_counter(), time.process_time()
    time.sleep(seconds)
    counts, end, after = [own[0] for own in results], time.perf_counter(), time.process_time()
    world["over"] = True
    for thread in team:
        thread.join()
    return Window(counts, end - begin, after - before)


def contend(
    make: Callable[[], Any], threads: int, seconds: float, warm_up: float, inside: str, outside: str = ""
) -> Metrics:
    """Return the turns per second, how evenly the threads shared them, and how many processors were busy."""
    turns, elapsed, cpu_seconds = crew(TURNS, make(), threads, seconds, warm_up, inside, outside)
    return {
        "elapsed": elapsed,
        "episodes": sum(turns),
        "throughput": sum(turns) / elapsed,
        "counts": turns,
        "fairness": min(turns) / max(1, *turns),
        "jain": jain(turns),
        "busy_processors": cpu_seconds / elapsed,
    }


def longest_wait(make: Callable[[], Any], threads: int, seconds: float, warm_up: float, inside: str) -> float:
    return float(max(crew(WAITS, make(), threads, seconds, warm_up, inside).results))


def jain(turns: Sequence[int]) -> float:
    """Return Jain's index: 1 if all threads have the same, 1/n if one thread has all."""
    squares = sum(count * count for count in turns)
    return sum(turns) ** 2 / (len(turns) * squares) if squares else 1.0


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Run processes that burn CPU during the block."""
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in burning:
            process.kill()
            process.wait()
