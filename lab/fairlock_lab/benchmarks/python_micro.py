# SPDX-License-Identifier: Apache-2.0
"""Measurements with at most two threads: uncontended, ping-pong, and re-acquisition."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def uncontended(setup: str) -> float:
    """Return the seconds that ``with lock: pass`` takes, as pyperf measures it in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pyperf.json"
        command = [sys.executable, "-m", "pyperf", "timeit", "--quiet", "--processes=1", "--warmups=1", "--values=3"]
        done = subprocess.run(
            [*command, "-o", str(file), "-s", setup, "with lock: pass"], cwd=folder, capture_output=True, text=True
        )
        if not file.exists():
            raise RuntimeError(done.stderr)
        runs = json.loads(file.read_text())["benchmarks"][0]["runs"]
    return min(float(value) for run in runs for value in run.get("values", []))


def ping_pong(make: Callable[[], Any], seconds: float, warm_up: float) -> float:
    """Return how often per second two threads can notify each other."""
    condition, turn, over, count = make(), 0, False, 0

    def play(me: int) -> None:
        nonlocal turn, count
        with condition:
            while not over:
                while turn != me and not over:
                    condition.wait()
                turn = 1 - me
                count += 1
                condition.notify()

    players = [threading.Thread(target=play, args=(i,), daemon=True) for i in (0, 1)]
    for player in players:
        player.start()
    time.sleep(warm_up)
    before, begin = count, time.perf_counter()
    time.sleep(seconds)
    after, end = count, time.perf_counter()
    over = True
    with condition:
        condition.notify_all()
    for player in players:
        player.join()
    return (after - before) / (end - begin)


def reacquisitions(make: Callable[[], Any], most: int = 2_000_000) -> int:
    """Return how often an owner that re-acquires at once gets the lock before a waiter does."""
    lock = make()
    lock.acquire()
    entered = False

    def wait() -> None:
        nonlocal entered
        with lock:
            entered = True

    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    while not lock.waiters:
        time.sleep(0)
    time.sleep(0.05)  # a thread is counted just before it enters the line
    again = 0
    lock.release()
    while again < most:
        lock.acquire()
        if entered:
            break
        again += 1
        lock.release()
    lock.release()
    waiter.join()
    return again
