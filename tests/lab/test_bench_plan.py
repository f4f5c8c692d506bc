# SPDX-License-Identifier: Apache-2.0
"""The plan of a benchmark: its points, their order and seeds."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path

import bench_support
import processes
import pytest
from bench_support import ONCE, succeed

from fairlock_lab.benchmarks import plan, results
from fairlock_lab.benchmarks.roster import Roster, Subject
from fairlock_lab.benchmarks.workloads import WORKLOADS

Bench = Callable[..., processes.Result]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call `fairlock bench` in an empty folder."""
    return functools.partial(bench_support.bench, cwd=tmp_path)


ROSTER = Roster(
    compiler="a compiler",
    cpus=2,
    policies=("spin", "park"),
    families=("contend",),
    subjects={
        name: Subject(name, "lock", "fifo", ("spin", "park"), ("guard",), 4 if name == "mcs" else None)
        for name in ("twa", "mcs", "ticket", "clh")
    },
)


def make_plan(seed: int) -> results.Plan:
    selection = plan.Selection(configs=("maximum", "moderate"), threads=(1, 2), locks=("twa", "mcs", "ticket", "clh"))
    points = plan.points_of("mutex", WORKLOADS["mutex"], selection, ROSTER)
    return plan.make("mutex", [(point, 5) for point in points], seed=seed, warm_up=0.1)


def test_the_order_follows_from_the_seed() -> None:
    assert make_plan(1) == make_plan(1)
    assert make_plan(1).order != make_plan(2).order
    assert len({plan.seed_of(1, run) for run in range(5)}) == 5


def test_runs_are_interleaved() -> None:
    interleaved = make_plan(7)
    size = len(interleaved.points)
    assert size == 16
    blocks = [interleaved.order[i : i + size] for i in range(0, len(interleaved.order), size)]
    assert [{run for _, run in block} for block in blocks] == [{0}, {1}, {2}, {3}, {4}]
    assert all(sorted(i for i, _ in block) == list(range(size)) for block in blocks)
    assert len({tuple(i for i, _ in block) for block in blocks}) == 5  # in a different order each time
    # Points that are compared with each other follow one another.
    places = [(interleaved.points[i].config, interleaved.points[i].threads) for i, _ in blocks[0]]
    assert sum(a != b for a, b in itertools.pairwise(places)) == 3
    # The first of them differs from run to run.
    alone = [i for i, point in enumerate(interleaved.points) if (point.config, point.threads) == places[0]]
    assert len({tuple(i for i, _ in block if i in alone) for block in blocks}) > 1


def test_a_name_given_twice_is_measured_once(bench: Bench, tmp_path: Path) -> None:
    twice = ["--config=maximum,maximum", "--waiting=spin,spin", "--locks=twa,twa", "--threads=1,1"]
    succeed(bench("mutex", *ONCE, *twice, "--no-references", "--json=r.json"))
    assert len(results.load(tmp_path / "r.json").samples) == 1


def test_a_workload_names_the_paper_that_describes_it() -> None:
    assert WORKLOADS["collisions"].paper == "Hapax Locks (PPoPP 2026), appendix B"
    assert WORKLOADS["multi-lock"].paper == ""  # ours


def test_numbers_of_threads() -> None:
    assert plan.counts(("..2*cpus",), 2) == [1, 2, 4]
    assert plan.counts(("..2*cpus",), 6) == [1, 2, 4, 8, 12]
    assert plan.counts((2, "cpus", "4*cpus"), 2) == [2, 8]
    assert plan.counts(("..cpus",), 1) == [1]
    assert plan.counts(("8 or cpus", "32 or 4*cpus"), 2) == [8, 32]
    assert plan.counts(("8 or cpus", "32 or 4*cpus"), 64) == [64, 256]


def test_locks_that_take_fewer_threads_are_left_out_unless_named() -> None:
    everywhere = plan.Selection(configs=("twa",), threads=(8,))
    points = plan.points_of("mutex", WORKLOADS["mutex"], everywhere, ROSTER)
    assert {point.lock for point in points} == {"twa", "ticket"}
    named = plan.Selection(configs=("twa",), threads=(8,), locks=("mcs",))
    with pytest.raises(plan.ArgumentError, match="mcs admits at most 4 threads, not 8"):
        plan.points_of("mutex", WORKLOADS["mutex"], named, ROSTER)


def test_locks_are_left_out_if_there_are_several_permits(bench: Bench, tmp_path: Path) -> None:
    several = ["uncontended", "--seconds=0.02", "--runs=1", "--waiting=spin", "--set=permits=4"]
    succeed(bench(*several, "--locks=fair-semaphore", "--json=r.json"))
    measured = {point.lock for point in results.load(tmp_path / "r.json").plan.points}
    assert measured == {"fair-semaphore", "sem_t", "std-semaphore"}
    done = bench(*several, "--locks=twa")
    assert done.returncode == 2
    assert "twa is not a semaphore: it has one permit, not 4" in done.stderr


def test_a_plan_repeats_from_its_file(bench: Bench, tmp_path: Path) -> None:
    succeed(
        bench("mutex", "--config=maximum", "--locks=twa", "--threads=1,2", "--seconds=0.02", "--runs=2", "--json=a")
    )
    succeed(bench("--from=a", "--json=b"))
    first, second = (results.load(tmp_path / name) for name in "ab")
    assert first.plan == second.plan
    assert [(s.point, s.run, s.seed) for s in first.samples] == [(s.point, s.run, s.seed) for s in second.samples]
    assert first.samples != second.samples
    done = bench("--from=a", "--json=./a")
    assert done.returncode == 2
    assert "would replace the file of --from" in done.stderr
