# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C keeps the samples of a benchmark, and ``--resume`` takes the others."""

from __future__ import annotations

import functools
import json
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bench_support
import processes
import pytest
from bench_support import PROGRAM, succeed

from fairlock import cli
from fairlock_lab.benchmarks import harness, library, plan, results
from fairlock_lab.errors import ArgumentError

Bench = Callable[..., processes.Result]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Call `fairlock bench` in an empty folder."""
    return functools.partial(bench_support.bench, cwd=tmp_path)


def run_and_interrupt(tmp_path: Path, *arguments: str, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
    """Interrupt a benchmark of many seconds when it has a few samples. Return its status and its errors."""
    command = [PROGRAM, "bench", "mutex", "--config=maximum", "--locks=twa,mcs,fair", "--threads=2", "--seconds=0.2"]
    with processes.start([*command, "--runs=10", "--no-references", *arguments], 120, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
        while arguments and not (tmp_path / "r.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1 if arguments else 4)
        process.send_signal(by)
        _, errors = process.communicate()
    return process.returncode, errors


def test_ctrl_c_keeps_the_samples_and_resume_takes_the_others(bench: Bench, tmp_path: Path) -> None:
    status, errors = run_and_interrupt(tmp_path, "--json=r.json")
    assert status == 130
    kept = results.load(tmp_path / "r.json")
    assert 0 < len(kept.samples) < len(kept.plan.order)
    assert not kept.complete
    assert f"{len(kept.samples)} of {len(kept.plan.order)} samples are in r.json" in errors
    assert "fairlock bench --resume r.json" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]

    raw = json.loads((tmp_path / "r.json").read_text())  # make the remaining samples short
    for point in raw["plan"]["points"]:
        point["seconds"] = 0.02
    (tmp_path / "r.json").write_text(json.dumps(raw))
    kept = results.load(tmp_path / "r.json")

    done = bench("--resume=r.json", "mutex")
    assert done.returncode == 2
    assert "leave the other options out" in done.stderr
    succeed(bench("--resume=r.json"))
    loaded = results.load(tmp_path / "r.json")
    assert loaded.complete
    assert loaded.plan == kept.plan
    assert loaded.samples[: len(kept.samples)] == kept.samples
    assert [(s.point, s.run) for s in loaded.samples] == list(loaded.plan.order)
    assert all(s.seed == plan.seed_of(loaded.plan.seed, s.run) for s in loaded.samples)
    before = (tmp_path / "r.json").read_text()
    succeed(bench("--resume=r.json"))  # nothing is left: prints the tables again
    assert (tmp_path / "r.json").read_text() == before


def test_ctrl_c_without_a_file_writes_one(tmp_path: Path) -> None:
    status, errors = run_and_interrupt(tmp_path)
    assert status == 130
    (path,) = tmp_path.iterdir()
    assert path.name in errors
    assert results.load(path).samples


ONE_SAMPLE = results.Sample(0, 0, 1, 0.0, False, {"throughput": 1.0})


def test_a_second_ctrl_c_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def one_sample(begun: results.BenchResults, *_: object) -> results.BenchResults:
        raise harness.BenchInterrupted(replace(begun, samples=(ONE_SAMPLE,)))

    def interrupt_again(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fairlock_lab.benchmarks.harness.run", one_sample)
    monkeypatch.setattr("fairlock_lab.commands.bench.show", interrupt_again)
    assert cli.main(["bench", "mutex", "--runs=2"]) == 130
    assert capsys.readouterr().err.endswith("fairlock: interrupted\n")
    (path,) = tmp_path.iterdir()
    assert len(results.load(path).samples) == 1


def test_a_failed_sample_does_not_lose_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def second_fails(begun: results.BenchResults, *_: object) -> results.BenchResults:
        raise harness.FailedRunError("no end after 31 s", replace(begun, samples=(ONE_SAMPLE,)))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fairlock_lab.benchmarks.harness.run", second_fails)
    assert cli.main(["bench", "mutex", "--runs=2"]) == 1
    (path,) = tmp_path.iterdir()
    assert len(results.load(path).samples) == 1
    kept, why = capsys.readouterr().err.splitlines()[-2:]
    assert f"continue with: fairlock bench --resume {path.name}" in kept
    assert why == "fairlock: no end after 31 s"


def test_the_end_of_the_terminal_is_like_ctrl_c(tmp_path: Path) -> None:
    status, _ = run_and_interrupt(tmp_path, "--json=r.json", by=signal.SIGHUP)
    assert status == 130
    assert not results.load(tmp_path / "r.json").complete


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("program", {}),
        ("program", {"command": "'"}),
        ("program", {"command": "true", "timeout": "long"}),
        ("program", {"command": "true", "measure": "("}),
        ("leveldb", {}),
        ("rocksdb", {"entries": "many"}),
        ("install", {}),
        ("python", {}),
    ],
)
def test_a_plan_that_lacks_what_its_program_needs_is_refused(
    tmp_path: Path, family: str, options: dict[str, results.Option]
) -> None:
    point = results.Point("mutex", "maximum", "pthread-mutex", None, None, 1, 0, 0.02, family, options)
    planned = library.request.Request("mutex", config="maximum", locks="twa", threads=1).new_results()
    path = tmp_path / "r.json"
    results.save(replace(planned, plan=replace(planned.plan, points=(point,), order=((0, 0),))), path)
    with pytest.raises(ArgumentError, match="this build of fairlock cannot measure mutex maximum: pthread-mutex"):
        library.repeat(path)


def test_another_machine_is_not_mixed_in(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("uncontended", "--locks=twa", "--seconds=0.01", "--runs=1", "--no-references", "--json=r.json"))
    path = tmp_path / "r.json"
    raw = json.loads(path.read_text())
    raw["machine"]["cpu"] = "Z80"
    raw["samples"], raw["complete"] = [], False
    path.write_text(json.dumps(raw))
    done = bench("--resume=r.json")
    assert done.returncode == 2
    assert "another machine (cpu: Z80, now" in done.stderr
    assert json.loads(path.read_text()) == raw
    succeed(bench("--resume=r.json", "--anyway"))
    assert results.load(path).complete


def test_a_plan_of_another_build(bench: Bench, tmp_path: Path) -> None:
    succeed(bench("uncontended", "--locks=twa", "--seconds=0.01", "--runs=1", "--no-references", "--json=r.json"))
    path = tmp_path / "r.json"
    raw = json.loads(path.read_text())
    raw["plan"]["points"][0]["lock"] = "no-such-lock"
    path.write_text(json.dumps(raw))
    for option in ("--resume", "--from"):
        done = bench(f"{option}=r.json")
        assert done.returncode == 2
        assert "this build of fairlock cannot measure uncontended uncontended: no-such-lock" in done.stderr
