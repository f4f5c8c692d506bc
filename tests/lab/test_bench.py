# SPDX-License-Identifier: Apache-2.0
"""``fairlock bench`` through the native program: each workload runs, and its file has what was measured."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import bench_support
import processes
import pytest
from bench_support import ONCE, QUICK, succeed

from fairlock_lab.benchmarks import harness, native, plan, results, targets
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.families import FAMILY_MODULES
from fairlock_lab.benchmarks.native import SampleError
from fairlock_lab.benchmarks.workloads import WORKLOADS

Bench = Callable[..., processes.Result]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call `fairlock bench` in an empty folder."""
    return functools.partial(bench_support.bench, cwd=tmp_path)


def test_a_run_of_mutexbench(bench: Bench, tmp_path: Path) -> None:
    words = ["--config=maximum,twa", "--locks=twa,mcs", "--threads=2", "--seconds=0.05", "--runs=2", "--json=r.json"]
    done = succeed(bench("mutex", *words))
    for word in ("twa (spin)", "mcs (spin)", "pthread-mutex", "std-mutex", "pthread-mutex-pi", " samples"):
        assert word in done.stdout
    loaded = results.load(tmp_path / "r.json")
    assert loaded.complete
    assert {"cpu", "cpus", "kernel", "governor", "compiler", "libc", "python", "load"} <= set(loaded.machine)
    assert {subject["name"] for subject in loaded.subjects} >= {"twa", "mcs", "pthread-mutex"}
    assert [(sample.point, sample.run) for sample in loaded.samples] == list(loaded.plan.order)
    for sample in loaded.samples:
        point, metrics = loaded.plan.points[sample.point], sample.metrics
        assert metrics["exclusion"] == ("replayed" if point.config == "maximum" else "witnessed")
        assert len(metrics["counts"]) == point.threads
        assert metrics["throughput"] == pytest.approx(metrics["episodes"] / metrics["elapsed"], rel=0.01)
        assert 0 <= metrics["fairness"] <= 1
        assert sample.oversubscribed == (point.threads > loaded.machine["cpus"])
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def is_inside(workload: str) -> bool:
    """Return whether `fairlock_bench` alone measures a workload. test_bench_programs.py tests the others."""
    return not any(config.family in FAMILY_MODULES for config in WORKLOADS[workload].configs.values())


@pytest.mark.parametrize("workload", [*filter(is_inside, WORKLOADS)])
def test_every_workload_runs(bench: Bench, tmp_path: Path, workload: str) -> None:
    known = WORKLOADS[workload]
    config = next(iter(known.configs.values()))
    if config.family not in native.roster().families:
        pytest.skip(plan.why_no_family(config.family, native.roster()))
    locks = [] if config.subject else [f"--locks={(config.locks or known.locks)[0]}"]
    threads = [] if known.threads == (1,) else ["--threads=2"]
    done = bench(workload, *ONCE, *threads, *locks, "--config=all", "--json=r.json")
    assert succeed(done).stdout
    loaded = results.load(tmp_path / "r.json")
    assert {point.config for point in loaded.plan.points} == set(known.configs)
    assert loaded.complete


def test_all_locks_by_name(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("uncontended", "--locks=all", "--seconds=0.001", "--runs=1", "--json=r.json"))
    loaded = results.load(tmp_path / "r.json")
    names = {point.lock for point in loaded.plan.points}
    assert {"twa", "capacitor-lifo", "fair-semaphore", "pthread-mutex"} <= names
    assert not [name for name in names if name == "broken" or "/" in name]


def test_forms_side_by_side(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("mutex", *QUICK, "--config=rearrival", "--locks=mcs,ticket", "--json=r.json"))
    loaded = results.load(tmp_path / "r.json")
    assert sorted((point.lock, point.form) for point in loaded.plan.points if point.lock == "mcs") == [
        ("mcs", "guard"),
        ("mcs", "mutex"),
    ]
    assert all("migrations" in sample.metrics for sample in loaded.samples)


def test_options_reach_the_program(bench: Bench, tmp_path: Path) -> None:
    words = ["--set=timed", "--set=non-critical=7", "--hogs=1", "--pin", "--waiting=spin-then-park"]
    done = succeed(bench("mutex", *QUICK, "--config=maximum", "--locks=twa", *words, "--json=r.json"))
    assert "changed with --set: non-critical=7, timed=yes\n" in done.stdout
    loaded = results.load(tmp_path / "r.json")
    (sample,) = loaded.samples
    (point,) = loaded.plan.points
    assert (point.hogs, point.waiting, loaded.plan.pin) == (1, "spin-then-park", True)
    assert point.options["non-critical"] == 7
    assert sample.metrics["longest_wait"] > 0


@pytest.mark.parametrize(
    ("workload", "option", "usual"), [("multi-lock", "locks-held", 5), ("fork-join", "episodes", 100)]
)
def test_an_option_can_be_changed_and_is_in_the_file(
    bench: Bench, tmp_path: Path, workload: str, option: str, usual: int
) -> None:
    for words, expected in (([], usual), ([f"--set={option}=3"], 3)):
        succeed(bench(workload, *QUICK, "--locks=fair", "--waiting=spin-then-park", *words, "--json=r.json"))
        (point,) = results.load(tmp_path / "r.json").plan.points
        assert point.options[option] == expected


def test_a_lock_that_breaks_stops_the_run(bench: Bench, tmp_path: Path) -> None:
    done = bench("mutex", "--config=maximum", "--locks=broken", "--threads=4", "--seconds=0.5", "--no-references")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("fairlock: mutex maximum: broken")
    assert "--lock broken" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_negative_control_is_a_result(bench: Bench, tmp_path: Path) -> None:
    words = ["--locks=twa", "--threads=1,4", "--seconds=0.5", "--runs=1", "--no-references", "--json=r.json"]
    done = succeed(bench("locktorture", *words))
    assert "negative control: broken, 4 threads: caught in 1 of 1 runs" in done.stdout
    loaded = results.load(tmp_path / "r.json")
    caught = [s.metrics["caught"] for s in loaded.samples if loaded.plan.points[s.point].lock == "broken"]
    assert caught == [True]


@pytest.mark.parametrize("status", [1, -11])
def test_a_control_that_fails_without_a_breach_is_not_caught(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    chosen = plan.make("locktorture", [(control(), 1)], seed=1, warm_up=0.0)
    monkeypatch.setattr(native, "call", lambda *_, **__: (status, "", "fairlock_bench: 2 of 2 threads still wait"))
    with pytest.raises(SampleError, match="still wait"):
        harness.measure(chosen.points[0], chosen, 1)
    breach = "fairlock_bench: broken: two threads were inside at once: 9 episodes, but the witness counted 8"
    monkeypatch.setattr(native, "call", lambda *_, **__: (1, "", breach))
    assert harness.measure(chosen.points[0], chosen, 1)["caught"] is True


def control() -> results.Point:
    return results.Point("locktorture", "locktorture", "broken", None, "guard", 2, 0, 0.1, "contend")


SPEED, EVEN = ("speed",), ("slow/fast",)


def test_work_outside_in_one_table(bench: Bench, tmp_path: Path) -> None:
    configs = "--config=pair-100-100,team-20-1000,crowd-1-0"
    done = succeed(bench("outside", configs, "--locks=fair", "--seconds=0.02", "--runs=1", "--json=r.json"))
    loaded = results.load(tmp_path / "r.json")
    cpus = loaded.machine["cpus"]
    assert [(point.threads, *work(point)) for point in loaded.plan.points if point.lock == "fair"] == [
        (2, 100, 100),
        (max(8, cpus), 20, 1000),
        (max(32, 4 * cpus), 1, 0),
    ]
    heads = next(line for line in done.stdout.splitlines() if line.startswith("threads"))
    for head in ("inside", "outside", "lock", "x std", "slowest/fastest", "longest wait, ms", "processors"):
        assert head in heads
    assert done.stdout.count("\nthreads") == 1
    assert len(re.findall(r"\bnolock\b", done.stdout)) == 3
    for sample in loaded.samples:
        assert 0 <= sample.metrics["processors"] <= cpus
        without = loaded.plan.points[sample.point].lock == "nolock"
        assert sample.metrics["exclusion"] == ("not checked" if without else "replayed")


def work(point: results.Point) -> tuple[object, object]:
    return point.options["critical"], point.options["non-critical"]


def test_the_short_form(bench: Bench, tmp_path: Path) -> None:
    done = succeed(bench("short", "--seconds=0.02", "--runs=1"))
    assert "Which lock should I use here?" in done.stdout
    assert "What the papers report" in done.stdout
    for lock in ("fair", "twa", "pthread-mutex", "nolock"):
        assert f"\n{lock} " in done.stdout
    above, heads = done.stdout[: done.stdout.index("\nfair ")].splitlines()[-3:-1]
    for place in ("2 threads, 100+100", " threads, 20+1000", "32 threads, 1+0", "the same, busy"):
        assert place in above
    assert heads.split() == ["lock", "ns", *SPEED, "CPUs", *SPEED, *EVEN, "CPUs", *(*SPEED, *EVEN, "wait") * 2]
    assert max(map(len, done.stdout.partition("What the papers")[0].splitlines()[1:])) <= 118
    assert results.load(tmp_path / "build" / "bench" / "results.json").complete
    assert (tmp_path / "build" / "bench" / "report.html").exists() == ("no report: " not in done.stdout)


def test_targets(bench: Bench) -> None:
    done = succeed(bench("targets", "--seconds=0.01", "--runs=1", "--locks=fair,twa,lifo,capacitor-lifo,twa-semaphore"))
    assert "slowest/fastest, at least 0.9" in done.stdout
    assert "x pthread-mutex-pi, at least 1.2" in done.stdout
    assert "ns, at most 2" in done.stdout
    assert " missed" in done.stdout


def test_every_target_is_measured() -> None:
    measured = {
        (lock, piece.workload, piece.config, threads, piece.hogs)
        for piece in COMPOSITES["targets"].pieces
        for threads in piece.threads
        for lock in piece.locks
    }
    for goal in targets.goals():
        for lock in {goal.lock, goal.reference} - {None}:
            where = goal.setting
            assert (lock, where.workload, where.config, where.threads, where.hogs) in measured


def test_composites_measure_only_known_configs_and_locks() -> None:
    for composite in COMPOSITES.values():
        for piece in composite.pieces:
            assert piece.config in WORKLOADS[piece.workload].configs
            unknown = [lock for lock in piece.locks if lock not in native.roster().subjects]
            assert all(any(plan.belongs_to(lock, key) for key in native.roster().missing) for lock in unknown)
