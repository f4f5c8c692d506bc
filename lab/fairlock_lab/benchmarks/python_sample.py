# SPDX-License-Identifier: Apache-2.0
"""A program that takes one sample of the Python workload, and prints its metrics.

python -m fairlock_lab.benchmarks.python_sample CONFIG LOCK THREADS HOGS SECONDS WARM_UP OPTIONS
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import fairlock
from fairlock_lab.benchmarks import python_crew, python_micro
from fairlock_lab.benchmarks.results import Metrics, Option

# A sample names its lock, and does not contain code, because the name may come from a results file.
MAKERS: dict[str, Callable[[], Any]] = {
    "fairlock.Lock": fairlock.Lock,
    "fairlock.Lock('fair')": lambda: fairlock.Lock("fair"),
    "fairlock.Lock('twa')": lambda: fairlock.Lock("twa"),
    "fairlock.Semaphore": fairlock.Semaphore,
    "fairlock.Semaphore('twa-semaphore')": lambda: fairlock.Semaphore(1, "twa-semaphore"),
    "fairlock.Condition": fairlock.Condition,
    "threading.Lock": threading.Lock,
    "threading.Semaphore": threading.Semaphore,
    "threading.Condition": threading.Condition,
}


def measure(
    config: str, lock: str, threads: int, hogs: int, seconds: float, warm_up: float, options: Mapping[str, Option]
) -> Metrics:
    if config == "uncontended":
        module, _, name = lock.partition(".")
        if module not in ("fairlock", "threading") or not name.isidentifier():
            raise KeyError(lock)
        return {"ns": 1e9 * python_micro.uncontended(f"import {module}; lock = {module}.{name}()")}
    make = MAKERS[lock]
    if config == "memory":
        return {"bytes": sys.getsizeof(make())}
    if config == "re-acquisition":
        return {"reacquisitions": python_micro.reacquisitions(make)}
    with python_crew.hogs(hogs) if hogs else nullcontext():
        if config == "ping-pong":
            return {"throughput": python_micro.ping_pong(make, seconds, warm_up)}
        if config == "contended":
            inside = python_crew.BODIES[str(options["body"])]
            metrics = python_crew.contend(make, threads, seconds, warm_up, inside)
            return {**metrics, "longest_wait": python_crew.longest_wait(make, threads, seconds / 2, warm_up, inside)}
        if config == "work-outside":
            inside, outside = (
                python_crew.STEPS_INSIDE.format(options["inside"]),
                python_crew.STEPS_OUTSIDE.format(options["outside"]),
            )
            return python_crew.contend(make, threads, seconds, warm_up, inside, outside)
    raise KeyError(config)


def main(config: str, lock: str, threads: str, hogs: str, seconds: str, warm_up: str, options: str) -> None:
    metrics = measure(config, lock, int(threads), int(hogs), float(seconds), float(warm_up), json.loads(options))
    print(json.dumps(metrics))


if __name__ == "__main__":
    main(*sys.argv[1:])
