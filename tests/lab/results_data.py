# SPDX-License-Identifier: Apache-2.0
"""Small results from hand-made samples, for the tests of what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlock_lab.benchmarks.plan import make
from fairlock_lab.benchmarks.results import BenchResults, Point, Sample
from fairlock_lab.benchmarks.workloads import WORKLOADS

Metrics = dict[str, Any]


def point(lock: str, threads: int = 2, config: str = "maximum", workload: str = "mutex", **more: Any) -> Point:
    known = WORKLOADS[workload].configs.get(config)
    options = known.options if known is not None else {}
    usual = {"waiting": "spin", "form": None, "hogs": 0, "seconds": 1.0, "family": "contend", "options": options}
    return Point(workload, config, lock, threads=threads, **{**usual, **more})


def measured(
    samples: Sequence[tuple[Point, Sequence[Metrics]]], cpus: int = 2, subjects: Sequence[dict[str, Any]] = ()
) -> BenchResults:
    """Return results of hand-made samples: a list of metrics for each point, run by run."""
    plan = make("mutex", [(one, len(runs)) for one, runs in samples], seed=1, warm_up=0.1)
    return BenchResults(
        created="2026-11-15T18:00:00Z",
        fairlock="0.1.0",
        command=["bench", "mutex"],
        machine={"cpus": cpus, "cpu": "a processor"},
        plan=plan,
        subjects=subjects,
        samples=tuple(
            Sample(i, run, 1, 0.0, False, metrics)
            for i, (_, runs) in enumerate(samples)
            for run, metrics in enumerate(runs)
        ),
    )


def rates(*values: float, other_work: float = 0.0) -> list[Metrics]:
    return [{"throughput": value, "other_work": other_work} for value in values]
