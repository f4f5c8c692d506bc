# SPDX-License-Identifier: Apache-2.0
"""What the tests of workloads inside programs and libraries share: a native sample, and what this machine lacks."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import processes
import pytest

from fairlock_lab.benchmarks import programs, results
from fairlock_lab.paths import bench_program

try:
    BENCH = bench_program()
except FileNotFoundError as error:
    pytest.skip(f"no native benchmark in this installation: {error}", allow_module_level=True)

Result = dict[str, Any]


def native(*arguments: str | Path) -> processes.Result:
    return processes.run([BENCH, *map(str, arguments)], timeout=120)


def metrics(*arguments: str | Path) -> Result:
    done = native(*arguments)
    assert done.returncode == 0, done.stderr
    result: Result = json.loads(done.stdout)
    return result


def error_line(*arguments: str | Path) -> str:
    """Return the one line of an error."""
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
WINDOW = ("--threads", "2", "--seconds", "0.1", "--warm-up", "0.01")


def check_metrics(metrics: Result) -> None:
    assert len(metrics["counts"]) == 2
    assert sum(metrics["counts"]) == metrics["episodes"] > 0
    assert metrics["throughput"] == pytest.approx(metrics["episodes"] / metrics["elapsed"], rel=1e-6)
    assert 0 <= metrics["fairness"] <= 1


def bench(folder: Path, *arguments: str, **environment: str) -> processes.Result:
    """Call `fairlock bench` in a folder, where its databases are too."""
    program = Path(sys.executable).with_name("fairlock")
    return processes.run(
        [program, "bench", *arguments],
        timeout=120,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), **environment},
    )


def samples(folder: Path, *arguments: str, locks: str = "glibc") -> list[Result]:
    done = bench(folder, *arguments, "--locks", locks, "--threads", "2", "--runs", "1", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    loaded = results.load(folder / "r.json")
    assert loaded.complete
    for sample in loaded.samples:
        point = loaded.plan.points[sample.point]
        assert sample.metrics["preloaded"] == programs.preloaded(point)
        assert (point.form, point.waiting is None) == (None, point.lock == "pthread-mutex")
    assert [path.name for path in folder.iterdir()] == ["r.json"]  # the databases are gone
    return [sample.metrics for sample in loaded.samples]
