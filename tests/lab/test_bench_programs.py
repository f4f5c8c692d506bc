# SPDX-License-Identifier: Apache-2.0
"""Workloads whose lock is inside a library or a program: each really runs, over the lock that was asked for."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import pytest

from fairlock import cli, paths
from fairlock_lab.benchmarks import harness, plan, programs, results
from fairlock_lab.benchmarks.native import roster
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.workloads import WORKLOADS
from fairlock_lab.paths import bench_program

try:
    BENCH = bench_program()
except FileNotFoundError as error:
    pytest.skip(f"no lab in this installation: {error}", allow_module_level=True)

Result = dict[str, Any]
Bench = Callable[..., processes.Result]


def native(*arguments: str | Path) -> processes.Result:
    return processes.run([BENCH, *map(str, arguments)], timeout=120)


def metrics(*arguments: str | Path) -> Result:
    done = native(*arguments)
    assert done.returncode == 0, done.stderr
    found: Result = json.loads(done.stdout)
    return found


def refused(*arguments: str | Path) -> str:
    """The one line that says why not."""
    done = native(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


needs_leveldb = pytest.mark.skipif(
    native("leveldb", "--version").returncode != 0, reason="LevelDB is not installed: apt-get install libleveldb1d"
)
needs_rocksdb = pytest.mark.skipif(
    shutil.which("db_bench") is None, reason="db_bench is not installed: apt-get install rocksdb-tools"
)
needs_libatomic = pytest.mark.skipif(
    "atomic-exchange" not in metrics("list")["families"], reason="built without libatomic"
)
window = ("--threads", "2", "--seconds", "0.1", "--warm-up", "0.01")


def looks_measured(found: Result) -> None:
    assert len(found["counts"]) == 2
    assert sum(found["counts"]) == found["episodes"] > 0
    assert found["throughput"] == pytest.approx(found["episodes"] / found["elapsed"], rel=1e-6)
    assert 0 <= found["fairness"] <= 1


# --- the native families ---


def test_throw_counts_the_mutexes_of_the_run_time_and_draws_the_conclusion() -> None:
    found = metrics("throw", *window)
    looks_measured(found)
    assert isinstance(found["mutexes_per_episode"], int | float)
    assert found["decidable"] == (found["mutexes_per_episode"] > 0)
    assert found["decidable"] or "no mutex" in found["reason"]


def test_throw_with_registered_frames_takes_at_least_as_many_mutexes() -> None:
    plain, registered = metrics("throw", *window), metrics("throw", "--registered-frames", *window)
    looks_measured(registered)
    assert registered["mutexes_per_episode"] >= plain["mutexes_per_episode"]


@needs_libatomic
def test_atomic_exchange_takes_one_mutex_and_loses_nothing() -> None:
    found = metrics("atomic-exchange", *window)
    looks_measured(found)
    assert found["exclusion"] == "witnessed"  # or the program would have failed
    assert (found["mutexes_per_episode"], found["decidable"]) == (1, True)


@needs_libatomic
def test_atomic_exchange_notices_a_mutex_that_does_not_exclude(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source, library = tmp_path / "open.cpp", tmp_path / "open.so"
    # Only the mutexes of libraries are open, and not those that the program has on its stack.
    source.write_text(
        """#include <dlfcn.h>
        #include <pthread.h>
        static bool open(pthread_mutex_t* mutex) {
          static thread_local pthread_mutex_t* known = nullptr;
          Dl_info info;
          if (mutex != known && dladdr(mutex, &info) != 0) known = mutex;
          return mutex == known;
        }
        template <class F> static F next(const char* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }
        extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
          static const auto lock = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
          return open(mutex) ? 0 : lock(mutex);
        }
        extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) {
          static const auto unlock = next<int (*)(pthread_mutex_t*)>("pthread_mutex_unlock");
          return open(mutex) ? 0 : unlock(mutex);
        }
        """
    )
    processes.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = processes.run(
        [BENCH, "atomic-exchange", "--threads", "4", "--seconds", "0.5", "--non-critical", "0"],
        env={**os.environ, "LD_PRELOAD": str(library)},
    )
    assert done.returncode == 1
    assert "got into each other" in done.stderr


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leveldb") / "db"
    assert metrics("leveldb", "--fill", "--db", folder, "--entries", "2000")["entries"] == 2000
    return folder


@needs_leveldb
def test_leveldb_reads_what_was_filled(database: Path) -> None:
    found = metrics("leveldb", "--db", database, "--entries", "2000", *window)
    looks_measured(found)
    assert found["mutexes_per_episode"] >= 2  # those of the database alone
    assert found["decidable"]


@needs_leveldb
def test_leveldb_fills_no_database_that_is_there_already(database: Path) -> None:
    assert "exists" in refused("leveldb", "--fill", "--db", database)


@needs_leveldb
def test_leveldb_says_what_is_wrong_with_a_database(database: Path, tmp_path: Path) -> None:
    assert "--fill makes a database" in refused("leveldb", "--db", tmp_path / "none")
    assert "has fewer than 2001 entries" in refused("leveldb", "--db", database, "--entries", "2001")
    assert "--db FOLDER" in refused("leveldb")


def test_a_missing_leveldb_names_the_package() -> None:
    line = refused("leveldb", "--library", "libnone.so", "--db", "somewhere")
    assert line == "fairlock_bench: leveldb: no library libnone.so: apt-get install libleveldb1d\n"


@pytest.mark.parametrize("family", ["throw", "leveldb"])
def test_these_families_leave_no_choice_of_lock(family: str) -> None:
    assert "has no option '--lock'" in refused(family, "--lock", "twa")


# --- from the command line ---


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call `fairlock bench` in a place of its own, with databases there too."""
    program = Path(sys.executable).with_name("fairlock")

    def call(*arguments: str, **environment: str) -> processes.Result:
        return processes.run(
            [program, "bench", *arguments],
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path), **environment},
        )

    return call


def samples(bench: Bench, tmp_path: Path, *arguments: str, locks: str = "glibc") -> list[Result]:
    done = bench(*arguments, "--locks", locks, "--threads", "2", "--runs", "1", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    found = results.load(tmp_path / "r.json")
    assert found.complete
    for sample in found.samples:
        point = found.plan.points[sample.point]
        assert sample.metrics["preloaded"] == programs.preloaded(point)
        assert (point.form, point.waiting is None) == (None, point.lock == "pthread-mutex")
    assert [one.name for one in tmp_path.iterdir()] == ["r.json"]  # the databases are gone
    return [sample.metrics for sample in found.samples]


def test_bench_throw(bench: Bench, tmp_path: Path) -> None:
    found = samples(bench, tmp_path, "throw", "--seconds", "0.1")
    assert len(found) == 2  # both configs
    for one in found:
        looks_measured(one)


@needs_libatomic
def test_bench_atomic_exchange(bench: Bench, tmp_path: Path) -> None:
    (found,) = samples(bench, tmp_path, "atomic-exchange", "--seconds", "0.1")
    looks_measured(found)


@needs_leveldb
def test_bench_leveldb(bench: Bench, tmp_path: Path) -> None:
    (found,) = samples(bench, tmp_path, "leveldb", "--seconds", "0.1", "--set", "entries=2000")
    looks_measured(found)


@needs_leveldb
def test_a_database_that_the_user_names_stays(bench: Bench, tmp_path: Path) -> None:
    words = ["leveldb", "--locks", "glibc", "--seconds", "0.1", "--threads", "1", "--runs", "1"]
    words += ["--set", "entries=500", "--set", "db=kept"]
    assert bench(*words).returncode == 0
    assert (tmp_path / "kept" / "CURRENT").exists()
    assert not (tmp_path / "kept.part").exists()
    assert bench(*words).returncode == 0


@needs_rocksdb
def test_bench_rocksdb(bench: Bench, tmp_path: Path) -> None:
    configs = ("--config", "readwhilewriting,from-empty")
    full, empty = sorted(
        samples(bench, tmp_path, "rocksdb", *configs, "--seconds", "1", "--set", "entries=20000"),
        key=lambda one: "use_existing_db" not in one["program"],
    )
    assert full["found"] == 1
    assert full["elapsed"] >= 1
    assert full["throughput"] > 0
    assert empty["throughput"] > 0
    assert "--cache_numshardbits=0" in full["program"]  # as in the paper


# --- over other locks ---

try:
    paths.preload_dir()
    there = True
except FileNotFoundError:
    there = False
needs_preload = pytest.mark.skipif(not there, reason="no locks to preload in this installation")


@needs_preload
def test_locks_of_the_run_time(bench: Bench, tmp_path: Path) -> None:
    words = ("throw", "--config", "registered-frames", "--seconds", "0.1")
    with_locks = samples(bench, tmp_path, *words, locks="twa,hapax-vw,fair")
    assert [one["preloaded"] for one in with_locks].count(None) == 1  # glibc's comes by itself
    for one in with_locks:
        looks_measured(one)
    # However many mutexes there are: they are counted without the lock that is preloaded.
    assert len({one["mutexes_per_episode"] for one in with_locks}) == 1


@needs_preload
@needs_libatomic
def test_every_lock_that_can_be_preloaded_excludes(bench: Bench, tmp_path: Path) -> None:
    words = ("atomic-exchange", "--seconds", "0.05", "--set", "non-critical=0")
    found = samples(bench, tmp_path, *words, locks="all")
    assert {one["preloaded"]["lock"] for one in found if one["preloaded"]} >= {"fair", "ticket", "twa", "hapax-vw"}
    assert all(one["exclusion"] == "witnessed" for one in found)


@needs_preload
@needs_leveldb
def test_locks_of_leveldb(bench: Bench, tmp_path: Path) -> None:
    words = ("leveldb", "--seconds", "0.1", "--set", "entries=2000", "--waiting", "spin", "--no-references")
    (found,) = samples(bench, tmp_path, *words, locks="twa")
    assert found["preloaded"] == {"lock": "twa", "waiting": "spin"}
    looks_measured(found)


@needs_preload
@needs_rocksdb
def test_locks_of_rocksdb(bench: Bench, tmp_path: Path) -> None:
    words = ("rocksdb", "--seconds", "1", "--set", "entries=2000", "--no-references")
    (found,) = samples(bench, tmp_path, *words, locks="hapax-vw")
    assert found["preloaded"]["lock"] == "hapax-vw"
    assert found["throughput"] > 0


def inside(family: str, lock: str, waiting: str | None) -> results.Plan:
    config = next(iter(WORKLOADS[family].configs))
    options = {"entries": 100, "full": False} if family == "rocksdb" else {}
    point = results.Point(family, config, lock, waiting, None, 2, 0, 0.05, family, options)
    return plan.make(family, [(point, 1)], seed=1, warm_up=0.0)


@pytest.fixture
def no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation whose locks cannot be loaded."""
    for lock in ("twa", "fair"):
        file = tmp_path / "preload" / "sleeping" / f"{lock}.so"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("this is no shared object")
    monkeypatch.setattr(paths, "preload_dir", lambda: tmp_path / "preload")
    return tmp_path / "preload"


@pytest.mark.parametrize("family", ["throw", pytest.param("rocksdb", marks=needs_rocksdb)])
def test_a_lock_that_was_not_loaded_is_no_sample(no_locks: Path, family: str) -> None:
    made = inside(family, "twa", "spin-then-park")
    with pytest.raises(SampleError, match=programs.NOT_LOADED):
        harness.measure(made.points[0], made, 1)
    unreplaced = inside(family, "pthread-mutex", None)
    assert harness.measure(unreplaced.points[0], unreplaced, 1)["throughput"] > 0


@needs_preload
def test_another_lock_than_the_one_asked_for_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    for lock in ("twa", "pthread-mutex"):  # as if somebody else had preloaded this one
        made = inside("throw", lock, None if lock == "pthread-mutex" else "spin-then-park")
        other = programs.environment(inside("throw", "fair", "spin-then-park").points[0])
        monkeypatch.setattr(programs, "environment", lambda point, other=other: other)
        with pytest.raises(SampleError, match=r"it says \{'lock': 'fair'"):
            harness.measure(made.points[0], made, 1)
        monkeypatch.undo()


@needs_preload
def test_what_hides_the_mutexes_of_a_preloaded_lock_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, hiding = tmp_path / "hiding.c", tmp_path / "hiding.so"
    source.write_text("int pthread_mutex_lock(void *mutex) { return 0; }\n")
    processes.run([compiler, "-shared", "-fPIC", "-o", hiding, source], check=True)
    made = inside("throw", "twa", "spin-then-park")
    both = programs.environment(made.points[0])
    monkeypatch.setattr(programs, "environment", lambda point: {**both, "LD_PRELOAD": f"{hiding}:{both['LD_PRELOAD']}"})
    with pytest.raises(SampleError, match="it says None"):
        harness.measure(made.points[0], made, 1)


def test_a_plan_with_a_lock_that_is_not_there_is_refused(
    no_locks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = inside("throw", "hapax", "spin-then-park")
    results.save(harness.begin(made, ["bench", "throw"], roster()), tmp_path / "r.json")
    assert cli.main(["bench", "--from", str(tmp_path / "r.json")]) == 2
    assert "this build of fairlock cannot measure throw throw: hapax (spin-then-park)" in capsys.readouterr().err


def test_without_preloadable_locks_glibcs_is_measured_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise FileNotFoundError("could not find the preloadable locks of fairlock")

    monkeypatch.setattr(paths, "preload_dir", nowhere)
    points = plan.points_of("throw", WORKLOADS["throw"], plan.Wish(threads=(1,)), roster())
    assert {point.lock for point in points} == {"pthread-mutex"}
    made = plan.make("throw", [(one, 1) for one in points], seed=1, warm_up=0.0)
    assert "make build" in harness.begin(made, [], roster()).missing["preload"]


# --- what is missing ---


def test_a_missing_leveldb_is_one_line_and_nothing_is_written(bench: Bench, tmp_path: Path) -> None:
    done = bench("leveldb", "--set", "library=libnone.so", "--json", "r.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("no library libnone.so: apt-get install libleveldb1d\n")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_missing_db_bench_is_one_line_and_nothing_is_written(bench: Bench, tmp_path: Path) -> None:
    done = bench("rocksdb", "--json", "r.json", PATH="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fairlock: workload rocksdb: no program db_bench in PATH: apt-get install rocksdb-tools\n"
    assert not list(tmp_path.iterdir())


def test_a_db_bench_of_another_database_is_not_taken_for_rocksdbs(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "db_bench"
    other.write_text("#!/bin/sh\necho 'Invalid flag'\nexit 1\n")
    other.chmod(0o755)
    done = bench("rocksdb", PATH=str(tmp_path))
    assert done.returncode == 2
    assert "is not RocksDB's" in done.stderr


def test_flags_that_a_db_bench_does_not_have_are_left_out_and_noted(bench: Bench, tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    other = bin_folder / "db_bench"
    known = "benchmarks threads duration num seed compression_type mmap_read cache_size sync db use_existing_db"
    other.write_text(
        f"""#!/bin/sh
case "$*" in
--help) echo "readwhilewriting"; for flag in {known}; do echo "    -$flag (words) type: int32"; done; exit 1;;
*mmap_write*|*verify_checksum*) echo "ERROR: unknown command line flag" >&2; exit 1;;
*fillseq*) exec mkdir "$(echo "$*" | sed 's/.*--db=//; s/ .*//')";;
*) echo "readwhilewriting :  3.5 micros/op 285714 ops/sec; 1.0 MB/s (5 of 10 found)";;
esac
"""
    )
    other.chmod(0o755)
    done = bench(
        *("rocksdb", "--locks", "glibc", "--threads", "2", "--runs", "1", "--seconds", "1", "--json", "r.json"),
        PATH=f"{bin_folder}:/usr/bin:/bin",
    )
    assert done.returncode == 0, done.stderr
    (sample,) = json.loads((tmp_path / "r.json").read_text())["samples"]
    assert sample["metrics"]["throughput"] == 285714  # an older one prints no more than that
    assert sample["metrics"]["found"] == 0.5
    assert "cache_numshardbits, mmap_write, verify_checksum" in ", ".join(
        sorted(sample["metrics"]["note"].split(" has no ")[1].removesuffix(": left out").split(", "))
    )


def test_options_that_make_no_sense_are_refused(bench: Bench) -> None:
    for words in (
        ("throw", "--locks", "twaa"),
        ("throw", "--waiting", "sleep"),
        ("rocksdb", "--pin"),
        ("throw", "--set", "entries=3"),
    ):
        done = bench(*words, "--seconds", "0.1", "--runs", "1", "--threads", "1")
        assert done.returncode == 2, words
        assert "Traceback" not in done.stderr
