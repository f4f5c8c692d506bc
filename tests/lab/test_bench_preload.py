# SPDX-License-Identifier: Apache-2.0
"""Workloads inside programs under preloaded locks: a sample counts only if the program really had its lock."""

from __future__ import annotations

import shutil
from pathlib import Path

import processes
import pytest
from program_support import check_metrics, needs_leveldb, needs_libatomic, needs_rocksdb, samples

from fairlock import cli, paths
from fairlock_lab.benchmarks import harness, plan, programs, results
from fairlock_lab.benchmarks.native import roster
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.workloads import WORKLOADS

try:
    paths.preload_dir()
    there = True
except FileNotFoundError:
    there = False
needs_preload = pytest.mark.skipif(not there, reason="no locks to preload in this installation")


@needs_preload
def test_locks_of_the_run_time(tmp_path: Path) -> None:
    words = ("throw", "--config", "registered-frames", "--seconds", "0.1")
    with_locks = samples(tmp_path, *words, locks="twa,hapax-vw,fair")
    assert [sample["preloaded"] for sample in with_locks].count(
        None
    ) == 1  # the sample with glibc's lock, which is added
    for sample in with_locks:
        check_metrics(sample)
    # Mutexes are counted without the preloaded lock, so the number is the same for all.
    assert len({sample["mutexes_per_episode"] for sample in with_locks}) == 1


@needs_preload
@needs_libatomic
def test_every_lock_that_can_be_preloaded_excludes(tmp_path: Path) -> None:
    words = ("atomic-exchange", "--seconds", "0.05", "--set", "non-critical=0")
    measured = samples(tmp_path, *words, locks="all")
    assert {sample["preloaded"]["lock"] for sample in measured if sample["preloaded"]} >= {
        "fair",
        "ticket",
        "twa",
        "hapax-vw",
    }
    assert all(sample["exclusion"] == "witnessed" for sample in measured)


@needs_preload
@needs_leveldb
def test_locks_of_leveldb(tmp_path: Path) -> None:
    words = ("leveldb", "--seconds", "0.1", "--set", "entries=2000", "--waiting", "spin", "--no-references")
    (sample,) = samples(tmp_path, *words, locks="twa")
    assert sample["preloaded"] == {"lock": "twa", "waiting": "spin"}
    check_metrics(sample)


@needs_preload
@needs_rocksdb
def test_locks_of_rocksdb(tmp_path: Path) -> None:
    words = ("rocksdb", "--seconds", "1", "--set", "entries=2000", "--no-references")
    (sample,) = samples(tmp_path, *words, locks="hapax-vw")
    assert sample["preloaded"]["lock"] == "hapax-vw"
    assert sample["throughput"] > 0


def inside(family: str, lock: str, waiting: str | None) -> results.Plan:
    config = next(iter(WORKLOADS[family].configs))
    options = {"entries": 100, "full": False} if family == "rocksdb" else {}
    point = results.Point(family, config, lock, waiting, None, 2, 0, 0.05, family, options)
    return plan.make(family, [(point, 1)], seed=1, warm_up=0.0)


@pytest.fixture
def no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an installation whose locks cannot be loaded."""
    for lock in ("twa", "fair"):
        file = tmp_path / "preload" / "sleeping" / f"{lock}.so"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("this is no shared object")
    monkeypatch.setattr(paths, "preload_dir", lambda: tmp_path / "preload")
    return tmp_path / "preload"


@pytest.mark.parametrize("family", ["throw", pytest.param("rocksdb", marks=needs_rocksdb)])
def test_a_lock_that_was_not_loaded_gives_no_sample(no_locks: Path, family: str) -> None:
    chosen = inside(family, "twa", "spin-then-park")
    with pytest.raises(SampleError, match=programs.NOT_LOADED):
        harness.measure(chosen.points[0], chosen, 1)
    unreplaced = inside(family, "pthread-mutex", None)
    assert harness.measure(unreplaced.points[0], unreplaced, 1)["throughput"] > 0


@needs_preload
def test_a_program_with_the_wrong_lock_gives_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    for lock in ("twa", "pthread-mutex"):  # as if the environment had preloaded another lock
        chosen = inside("throw", lock, None if lock == "pthread-mutex" else "spin-then-park")
        other = programs.environment(inside("throw", "fair", "spin-then-park").points[0])
        monkeypatch.setattr(programs, "environment", lambda point, other=other: other)
        with pytest.raises(SampleError, match=r"the program reports \{'lock': 'fair'"):
            harness.measure(chosen.points[0], chosen, 1)
        monkeypatch.undo()


@needs_preload
def test_an_object_that_hides_a_preloaded_lock_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, hiding = tmp_path / "hiding.c", tmp_path / "hiding.so"
    source.write_text("int pthread_mutex_lock(void *mutex) { return 0; }\n")
    processes.run([compiler, "-shared", "-fPIC", "-o", hiding, source], check=True)
    chosen = inside("throw", "twa", "spin-then-park")
    both = programs.environment(chosen.points[0])
    monkeypatch.setattr(programs, "environment", lambda point: {**both, "LD_PRELOAD": f"{hiding}:{both['LD_PRELOAD']}"})
    with pytest.raises(SampleError, match="the program reports None"):
        harness.measure(chosen.points[0], chosen, 1)


def test_a_plan_with_a_lock_that_this_build_lacks_is_refused(
    no_locks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = inside("throw", "hapax", "spin-then-park")
    results.save(harness.begin(chosen, ["bench", "throw"], roster()), tmp_path / "r.json")
    assert cli.main(["bench", "--from", str(tmp_path / "r.json")]) == 2
    assert "this build of fairlock cannot measure throw throw: hapax (spin-then-park)" in capsys.readouterr().err


def test_without_preloadable_locks_only_glibc_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing_folder() -> Path:
        raise FileNotFoundError("could not find the preloadable locks of fairlock")

    monkeypatch.setattr(paths, "preload_dir", missing_folder)
    points = plan.points_of("throw", WORKLOADS["throw"], plan.Selection(threads=(1,)), roster())
    assert {point.lock for point in points} == {"pthread-mutex"}
    chosen = plan.make("throw", [(point, 1) for point in points], seed=1, warm_up=0.0)
    assert "make build" in harness.begin(chosen, [], roster()).missing["preload"]
