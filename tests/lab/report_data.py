# SPDX-License-Identifier: Apache-2.0
"""Made-up results that look as if they were measured, for the tests of the report and for its design.

python tests/lab/report_data.py results.json [--scale 1.0] [--noise 0.03] [--runs 5]
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fairlock_lab.benchmarks.lock_sets import NO_LOCK, PEERS
from fairlock_lab.benchmarks.plan import make
from fairlock_lab.benchmarks.results import BenchResults, Point, Sample, save
from fairlock_lab.benchmarks.workloads import WORKLOADS

CPUS = 4
MACHINE = {
    "cpu": "Imaginary 9000 at 3 GHz",
    "cpus": CPUS,
    "kernel": "Linux 6.1.0",
    "governor": "unknown",
    "compiler": "GCC 12.2.0",
    "libc": "glibc 2.36",
    "python": "3.11.7",
    "memory_gib": 24,
    "load": 0.3,
}
BARGING = ("tas", "tts", "tts-backoff", "pthread-mutex", "std-mutex", "sem_t", "std-semaphore", "lifo")
GLOBAL = ("ticket", "tidex", "ck-ticket", "ticket-semaphore", "anderson")
SEMAPHORES = ("sem_t", "std-semaphore")

Shape = Callable[[Point], float]  # returns the throughput of a point


def speed_factor(lock: str) -> float:
    """Return a number for each name, the same every time."""
    return 1 + 0.25 * math.sin(sum(map(ord, lock)))


def throughput(point: Point) -> float:
    lock, slots = point.lock.partition("/slots-")[::2]
    speed = 3e7 * speed_factor(lock) / (1 + 0.05 * point.options.get("non-critical", 0))  # type: ignore[operator]
    if point.threads == 1:
        return speed * (0.7 if lock.startswith(("capacitor", "semaphore")) else 1)
    speed *= 0.4
    if lock in GLOBAL:
        speed /= 1 + 0.12 * point.threads
    if point.threads > CPUS and lock not in BARGING and not lock.startswith(("fair", "capacitor")):
        speed /= 20
    if slots:
        speed *= 0.6 + 0.08 * math.log2(int(slots) + 1)
    return speed / (1 + 0.3 * point.hogs)


def fairness(point: Point) -> float:
    unfair = point.lock in BARGING or point.lock.startswith("semaphore-around")
    return 1 if point.threads == 1 else 0.35 / math.log2(point.threads + 1) if unfair else 0.96


def histogram(middle: float, wide: float, dice: random.Random) -> dict[str, list[float]]:
    edges = [round(2 ** (i / 4), 2) for i in range(16, 84)]
    counts = [0] * (len(edges) - 1)
    for _ in range(4000):
        at = middle * math.exp(dice.gauss(0, wide)) * (30 if dice.random() < 0.02 else 1)
        place = min(max(int(4 * math.log2(at)) - 16, 0), len(counts) - 1)
        counts[place] += 1
    return {"edges_ns": edges, "counts": counts}  # type: ignore[dict-item]


def metrics(point: Point, expected: float, noise: float, dice: random.Random) -> dict[str, Any]:
    if point.family == "uncontended":
        return {"ns": 9 * speed_factor(point.lock) * math.exp(dice.gauss(0, noise)), "other_work": 0.01}
    if point.family == "overhead":
        rows = [
            {
                "lock": lock,
                "loop_ns": 10 * speed_factor(lock) + dice.gauss(0.6, 0.2),
                "hand_ns": 10 * speed_factor(lock),
            }
            for lock in ("pthread-mutex", "ticket", "twa", "hapax")
        ]
        return {"rows": rows, "overhead_ns": 0.6, "other_work": 0.01}
    rate = expected * math.exp(dice.gauss(0, noise))
    fair = min(1, fairness(point) * math.exp(dice.gauss(0, noise)))
    last = max(point.threads - 1, 1)
    shares = [fair + (1 - fair) * i / last for i in range(point.threads)]
    counts = [int(rate * point.seconds * share / sum(shares)) for share in shares]
    jain = sum(counts) ** 2 / (len(counts) * sum(count * count for count in counts)) if sum(counts) else 1.0
    timed = point.options.get("timed") or point.options.get("timed-apart")
    handed = point.options.get("handover")
    return {
        "elapsed": point.seconds,
        "episodes": int(rate * point.seconds),
        "throughput": rate,
        "counts": counts,
        "fairness": fair,
        "jain": jain,
        "exclusion": "replayed" if point.options.get("critical-on") == "shared" else "witnessed",
        "longest_wait": 0.002 * speed_factor(point.lock) * (20 if fair < 0.5 else 1) * point.threads if timed else None,
        "waits": histogram(300 * point.threads, 0.9, dice) if timed else None,
        "handover": histogram(180 * speed_factor(point.lock), 0.5, dice) if handed else None,
        "migrations": min(1, 0.2 + fair * 0.7) if point.options.get("migrations") else None,
        "context_switches": 12,
        "cpu_seconds": point.seconds * min(point.threads, CPUS),
        "processors": float(min(point.threads, CPUS)),
        "other_work": abs(dice.gauss(0, 0.01)),
        "perf": {"unavailable": "perf_event_open: Permission denied"},
    }


def points_of(
    workload: str, config: str, locks: Iterable[str] | None = None, threads: Iterable[int] | None = None
) -> list[Point]:
    """Return the points of a workload, with its semaphores and references."""
    known = WORKLOADS[workload]
    chosen = known.configs[config]
    if chosen.subject is not None:
        names: list[str] = [chosen.subject]
    else:
        names = list(locks) if locks is not None else [*(chosen.locks or known.locks), *known.references]
    counts = list(threads) if threads is not None else [1, 2, 4, 8, 16]
    return [
        Point(
            workload,
            config,
            name,
            None if is_reference(name) or chosen.subject else waiting,
            "guard" if form == "guard" else form,
            count,
            hogs,
            known.seconds,
            chosen.family,
            chosen.options,
        )
        for hogs in known.hogs
        for count in counts
        for name in dict.fromkeys(names)
        for waiting in (known.waiting if not is_reference(name) else known.waiting[:1])
        for form in chosen.forms
    ]


def results(
    points: list[Point],
    *,
    runs: int = 5,
    noise: float = 0.02,
    seed: int = 1,
    shape: Shape = throughput,
    change: Callable[[Point, dict[str, Any], int], None] | None = None,
    workload: str | None = None,
    machine: Mapping[str, Any] | None = None,
) -> BenchResults:
    """Return results of these points. `change` may alter the metrics of each sample, and `machine` its facts."""
    plan = make(workload or points[0].workload, [(point, runs) for point in points], seed=seed, warm_up=0.1)
    dice = random.Random(seed)
    samples = []
    for at, (number, run) in enumerate(plan.order):
        point = points[number]
        values = metrics(point, shape(point), noise, dice)
        if change is not None:
            change(point, values, run)
        samples.append(Sample(number, run, seed + run, float(at), point.threads > CPUS, values))
    names = dict.fromkeys(point.lock for point in points)
    subjects = [{"name": name, "kind": kind_of(name), "order": None, "policies": [], "forms": []} for name in names]
    return BenchResults(
        created="2026-11-15T18:00:00Z",
        fairlock="0.1.0",
        command=["bench", plan.workload],
        machine={**MACHINE, **(machine or {})},
        plan=plan,
        missing={"ck": "not installed: apt-get install libck-dev, then build again"},
        subjects=subjects,
        samples=tuple(samples),
    )


def is_reference(name: str) -> bool:
    return name.startswith(("pthread", "std", "ck-")) or name in (*SEMAPHORES, *PEERS, NO_LOCK)


def kind_of(name: str) -> str:
    if is_reference(name):
        return "reference"
    return "semaphore" if name.endswith("semaphore") or "semaphore-" in name[4:] else "lock"


def everything(**more: Any) -> BenchResults:
    """Return results with a part of each workload."""
    points = [
        *points_of("mutex", "maximum", threads=(1, 2, 4, 8)),
        *points_of("mutex", "moderate", threads=(1, 2, 4, 8)),
        *points_of("mutex", "twa", threads=(1, 2, 4, 8)),
        *points_of("mutex", "capacitor", threads=(1, 2, 4, 8)),
        *points_of("mutex", "rearrival", locks=("twa", "hapax", "mcs"), threads=(1, 2, 4)),
        *points_of("outside", "pair-100-100", threads=(2,)),
        *points_of("outside", "crowd-20-1000", threads=(32,)),
        *points_of("semaphore", "semabench", threads=(1, 2, 4, 8)),
        *points_of("handover", "handover", locks=("twa", "hapax", "mcs", "ticket", "pthread-mutex"), threads=(2, 4)),
        *points_of("collisions", "collisions", threads=(4, 16)),
        *points_of("oversubscribed", "oversubscribed", threads=(32,)),
        *points_of("uncontended", "uncontended", threads=(1,)),
        *points_of("overhead", "overhead", threads=(1,)),
    ]
    return results(points, workload="short", **more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    save(
        everything(
            runs=args.runs, noise=args.noise, seed=args.seed, shape=lambda point: args.scale * throughput(point)
        ),
        args.file,
    )


if __name__ == "__main__":
    main()
