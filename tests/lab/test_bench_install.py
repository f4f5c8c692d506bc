# SPDX-License-Identifier: Apache-2.0
"""``fairlock bench install``: every program runs both ways, and a sample with the wrong locks is refused."""

from __future__ import annotations

import queue
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import processes
import pytest
import report_data
from bench_support import bench

import fairlock
from fairlock_lab.benchmarks import ordinary_programs, plan, results, threaded_programs
from fairlock_lab.benchmarks.blocks import to_text
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.results import Point

SHORT = ("--runs=1", "--seconds=0.3")  # on a busy machine, threads may do nothing in a shorter window


def test_every_program_runs_both_ways(tmp_path: Path) -> None:
    done = bench("install", *SHORT, "--json=r.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"of {len(ordinary_programs.ROWS)} targets met" in done.stdout
    loaded = results.load(tmp_path / "r.json")
    assert loaded.complete
    measured = [(loaded.plan.points[sample.point], sample.metrics) for sample in loaded.samples]
    assert all(metrics["throughput"] > 0 for _, metrics in measured)
    for row in ordinary_programs.ROWS:
        assert row.name in done.stdout
        both = {point.lock for point, _ in measured if (point.config, point.threads) == (row.config, row.threads)}
        assert both == {"threading", "fairlock.install()"}
    assert {row.config for row in ordinary_programs.ROWS} == set(threaded_programs.PROGRAMS)

    again = bench("--resume=r.json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert done.stdout.partition("\n\n")[0] in again.stdout  # the table


@pytest.mark.parametrize(
    ("start", "module", "complaint"),
    [
        ((), "fairlock", "threading.Lock() is a _thread.lock; expected one from fairlock"),
        (
            ("-m", "fairlock"),
            "threading",
            "threading.Lock() is a fairlock.Lock; expected one from threading",
        ),
    ],
)
def test_the_wrong_locks_are_noticed(start: tuple[str, ...], module: str, complaint: str, tmp_path: Path) -> None:
    command = [sys.executable, "-P", *start, ordinary_programs.SCRIPT, "barrier", "2", "0.01", "0", module]
    done = processes.run(command, cwd=tmp_path, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{complaint}\n")


def test_a_library_with_other_locks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert threaded_programs.wrong_lock("threading") == ""
    monkeypatch.setattr(queue, "threading", SimpleNamespace(Lock=fairlock.Lock, Condition=threading.Condition))
    complaint = "the lock of queue.Queue() is a fairlock.Lock; expected one from threading"
    assert threaded_programs.wrong_lock("threading") == complaint


@pytest.mark.parametrize(
    ("worker", "seconds", "complaint"),
    [
        ("lambda done: 1 / 0", "60", "ZeroDivisionError: division by zero"),
        ("lambda done: time.sleep(600)", "0.02", "it did nothing in 0.02 s"),
    ],
)
def test_a_failed_program_gives_no_sample(worker: str, seconds: str, complaint: str, tmp_path: Path) -> None:
    code = (
        "import time; from fairlock_lab.benchmarks import threaded_programs as programs\n"
        f"programs.PROGRAMS['it'] = lambda threads: [{worker}]\n"
        f"programs.main('it', '1', '{seconds}', '0.01', 'threading')"
    )
    done = processes.run([sys.executable, "-P", "-c", code], cwd=tmp_path, timeout=300)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == complaint


def test_without_the_installation_there_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ordinary_programs.START, ordinary_programs.INSTALLED, ())
    ours, _ = ordinary_programs.ROWS[0].points(ordinary_programs.WORKLOAD, 0.01)
    with pytest.raises(SampleError, match="; expected one from fairlock"):
        ordinary_programs.sample(ours, plan.make(ordinary_programs.WORKLOAD, [(ours, 1)], seed=1, warm_up=0.01), 1)


def test_the_table_of_made_up_results() -> None:
    ratios = {"logging": 0.8, "barrier": 0.996}  # the last is text, and so judged, as 1.00

    def speed(point: Point) -> float:
        return 1000.0 * (ratios.get(point.config, 2.0) if point.lock == ordinary_programs.INSTALLED else 1.0)

    points = ordinary_programs.INSTALL.points((), None)
    text = to_text(ordinary_programs.INSTALL.blocks(report_data.results(points, noise=0.0, shape=speed)))
    lines = {
        row.config: line for row in ordinary_programs.ROWS for line in text.splitlines() if line.startswith(row.name)
    }
    assert lines["logging"].split()[-4:] == ["0.80", ">=", "1", "MISSED"]
    assert lines["barrier"].split()[-4:] == ["1.00", ">=", "1", "met"]
    assert lines["lru-cache"].split()[-4:] == ["2.00", ">=", "1", "met"]
    assert f"{len(ordinary_programs.ROWS) - 1} of {len(ordinary_programs.ROWS)} targets met" in text


def test_the_table_marks_disturbed_rows() -> None:
    def change(point: Point, metrics: dict[str, Any], run: int) -> None:
        metrics["other_work"] = 0.5 if point.config == "barrier" or (point.config == "logging" and run == 0) else 0.0

    loaded = report_data.results(ordinary_programs.INSTALL.points((), None), runs=3, change=change)
    text = to_text(ordinary_programs.INSTALL.blocks(loaded))
    assert [line.partition("!")[0] for line in text.splitlines() if "!" in line][:-1] == ["Barrier(4), 4 threads"]
    assert f"Other work took more than 10 % of the processors in 8 of {len(loaded.samples)} samples." in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--only=no-such-program"],
            "no row has one of these words: no-such-program; the rows are: ThreadPoolExecutor",
        ),
        (["--locks=twa"], "install has its own rows: choose with --only"),
        (["--pin"], "install cannot pin threads to processors: leave --pin out"),
    ],
)
def test_wrong_arguments(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    done = bench("install", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
