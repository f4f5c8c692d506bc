"""One sample of the Python workload, in a process of its own: ``python -m fairlock.bench.one CONFIG LOCK ...``."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import fairlock
from fairlock.bench import alone, crew
from fairlock.bench.results import Metrics, Option

# Names, not code: they come from results files too.
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
        return {"ns": 1e9 * alone.uncontended(f"import {module}; lock = {module}.{name}()")}
    make = MAKERS[lock]
    if config == "memory":
        return {"bytes": sys.getsizeof(make())}
    if config == "re-acquisition":
        return {"reacquisitions": alone.reacquisitions(make)}
    with crew.hogs(hogs) if hogs else nullcontext():
        if config == "ping-pong":
            return {"throughput": alone.ping_pong(make, seconds, warm_up)}
        if config == "contended":
            inside = crew.BODIES[str(options["body"])]
            found = crew.contend(make, threads, seconds, warm_up, inside)
            return {**found, "longest_wait": crew.longest_wait(make, threads, seconds / 2, warm_up, inside)}
        if config == "work-outside":
            inside, outside = crew.STEPS_INSIDE.format(options["inside"]), crew.STEPS_OUTSIDE.format(options["outside"])
            return crew.contend(make, threads, seconds, warm_up, inside, outside)
    raise KeyError(config)


def main(config: str, lock: str, threads: str, hogs: str, seconds: str, warm_up: str, options: str) -> None:
    metrics = measure(config, lock, int(threads), int(hogs), float(seconds), float(warm_up), json.loads(options))
    print(json.dumps(metrics))


if __name__ == "__main__":
    main(*sys.argv[1:])
