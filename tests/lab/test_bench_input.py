# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments of ``fairlock bench``, and what a build lacks: one clear line, and nothing is written."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import bench_support
import processes
import pytest
from bench_support import QUICK

from fairlock import cli
from fairlock_lab.benchmarks import harness, native, plan, request
from fairlock_lab.benchmarks.roster import Roster, Subject
from fairlock_lab.benchmarks.workloads import WORKLOADS

Bench = Callable[..., processes.Result]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call `fairlock bench` in an empty folder."""
    return functools.partial(bench_support.bench, cwd=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "WORKLOAD is missing"),
        (["mutexx"], "unknown workload 'mutexx' (did you mean mutex?)"),
        (["mutex", "--config=maximal"], "unknown config of mutex 'maximal' (did you mean maximum?)"),
        (["mutex", "--locks=tva"], "unknown lock 'tva' (did you mean twa?)"),
        (["mutex", "--locks="], "locks: name at least one"),
        (["mutex", "--waiting=sleep"], "unknown waiting policy 'sleep'"),
        (["mutex", "--locks=qspinlock", "--waiting=park"], "qspinlock has no waiting policy park; choose from: "),
        (["mutex", "--threads=0"], "threads: choose numbers from 1 to "),
        (["mutex", "--threads=-4"], "threads: choose numbers from 1 to "),
        (["mutex", "--threads=two"], "threads: choose numbers from 1 to "),
        (["mutex", "--threads=99999999"], "threads: 99999999 is too many: this system allows at most "),
        (["mutex", "--threads=9999999999999"], "threads: choose numbers from 1 to "),
        (["mutex", "--seconds=0"], "seconds: choose a number from 0.001 to 3600, not 0.0"),
        (["mutex", "--seconds=nan"], "seconds: choose a number from 0.001 to 3600, not nan"),
        (["mutex", "--seconds=long"], "--seconds"),
        (["mutex", "--runs=0"], "runs: choose a number from 1 to 1000, not 0"),
        (["mutex", "--hogs=-1"], "hogs: choose a number from 0 to 64, not -1"),
        (["mutex", "--set=speed=9"], "unknown option 'speed'"),
        (["mutex", "--set=generator=rand"], "unknown generator 'rand'"),
        (["mutex", "--set=critical=-1"], "option critical: choose a number from 0"),
        (["mutex", f"--set=critical={'9' * 5000}"], "option critical: choose a number from 0"),
        (["mutex", "--set=timed=perhaps"], "option timed: choose 'yes' or 'no', not 'perhaps'"),
        (["mutex", "--colour=red"], "unrecognized arguments: --colour=red"),
        (["mutex", "--only=Lock"], "--only is for python"),
        (["mutex", "--json=no/such/folder/r.json"], "cannot write no/such/folder/r.json: there is no folder"),
        (["mutex", "--json=."], "it is a folder"),
        (["mutex", "--json=r.json", "--report=./r.json"], "cannot write the page to r.json: the results are there"),
        (["short", "--threads=4"], "short has its own config, waiting, threads, hogs and options"),
        (["short", "--locks=clh"], "this workload does not measure clh"),
        (["uncontended", "--threads=2"], "uncontended measures one thread"),
        (["overhead", "--locks=twa"], "overhead has no choice of lock"),
        (["python", "--locks=twa"], "python has its own rows: choose with --only"),
        (["python", "--pin"], "leave --pin out"),
        (["python", "--only=,"], "only: name at least one"),
        (["locktorture", "--locks=broken", "--threads=1", "--no-references"], "no lock is left with these --locks"),
        (["--from=none.json", "--pin"], "as it is: leave the other options out"),
        (
            ["--resume=none.json", "--no-references"],
            "--resume continues the plan in none.json: leave the other options out",
        ),
        (["--resume=none.json"], "cannot read none.json: No such file or directory"),
        (["--from=none.json"], "cannot read none.json: No such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = cli.main(["bench", *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    assert status == 2
    assert complaint in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out
    assert not list(tmp_path.iterdir())


def test_an_error_of_the_native_program_is_one_line(bench: Bench, tmp_path: Path) -> None:
    done = bench("semaphore", *QUICK, "--locks=twa-semaphore", "--set=permits=2000000", "--json=r.json")
    assert done.returncode == 2
    assert "permits" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_without_the_native_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def missing_folder() -> Path:
        raise FileNotFoundError("could not find the native benchmark of fairlock: `make build` installs it in .venv")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(native, "bench_program", missing_folder)
    native.roster.cache_clear()
    assert cli.main(["bench", "mutex"]) == 2
    assert capsys.readouterr().err.startswith("fairlock: could not find the native benchmark")
    assert not list(tmp_path.iterdir())
    native.roster.cache_clear()


def test_locks_of_a_library_that_is_not_installed() -> None:
    without = Roster("", 2, ("spin",), ("contend",), {}, missing={"ck": "not installed: apt-get install libck-dev"})
    with pytest.raises(
        plan.ArgumentError, match="ck-ticket is not in this build: ck is not installed: apt-get install"
    ):
        plan.expand("ck-ticket", WORKLOADS["mutex"], without)


def test_a_missing_library_is_reported_where_it_would_be_measured() -> None:
    missing = {"absl": "not installed: apt-get install libabsl-dev"}
    subjects = {"fair": Subject("fair", "lock", None, ("spin-then-park",), ("guard",))}
    without = Roster("", 2, ("spin-then-park",), ("contend",), subjects, missing=missing)
    with pytest.raises(plan.ArgumentError, match="absl is not in this build: absl is not installed: apt-get install"):
        plan.expand("absl", WORKLOADS["outside"], without)
    for workload, reported in (("outside", missing), ("mutex", {})):
        selection = plan.Selection(locks=("fair",), waiting=("spin-then-park",), threads=(2,))
        points = plan.points_of(workload, WORKLOADS[workload], selection, without)
        chosen = plan.make(workload, [(point, 1) for point in points], seed=1, warm_up=0.0)
        assert harness.begin(chosen, [], without).missing == reported


def test_the_list_has_every_workload_and_the_policies_of_the_native_program(bench: Bench) -> None:
    done = bench("--list")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert set(request.workload_names()) <= set(lines)
    assert lines[-1] == f"waiting policies: {', '.join(native.roster().policies)}"
