# SPDX-License-Identifier: Apache-2.0
"""``fairlock bench python``: its rows run, without the lab too, and wrong arguments are one clear line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import processes
import pytest
import report_data
from support import bench

from fairlock_lab.benchmarks import python_types
from fairlock_lab.benchmarks.results import Point


def test_rows_and_json(tmp_path: Path) -> None:
    done = bench(
        "python",
        "--only",
        "memory,Semaphore(1),re-acquires,ping",
        "--runs=2",
        "--seconds=0.05",
        "--json=r.json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "targets met" in done.stdout
    for row in (
        "memory of a Lock()",
        "Lock('twa'), holder that re-acquires at once",
        "Semaphore(1), 8 threads",
        "ping-pong",
    ):
        assert row in done.stdout
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["complete"]
    assert found["plan"]["runs"] == 2
    points = found["plan"]["points"]
    assert {"fairlock.Lock", "fairlock.Condition", "threading.Condition"} <= {point["lock"] for point in points}
    metrics = {points[sample["point"]]["config"]: sample["metrics"] for sample in found["samples"]}
    assert metrics["memory"]["bytes"] <= 128
    assert metrics["re-acquisition"]["reacquisitions"] <= 512
    assert len(metrics["contended"]["counts"]) > 1
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_rows_with_work_outside(tmp_path: Path) -> None:
    done = bench("python", "--only=outside", "--runs=1", "--seconds=0.03", "--json=r.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "processors kept busy" in done.stdout
    found = json.loads((tmp_path / "r.json").read_text())
    assert {point["config"] for point in found["plan"]["points"]} == {"work-outside"}
    for sample in found["samples"]:
        metrics = sample["metrics"]
        assert metrics["episodes"] == sum(metrics["counts"]) > 0
        assert metrics["busy_processors"] > 0


def outside_rows(version: str) -> list[python_types.Row | python_types.Mean]:
    return [row for row in python_types.rows_for(version) if "outside" in row.name]


def test_work_outside_is_measured_where_it_says_something_about_the_lock() -> None:
    free = outside_rows("3.14.7 free-threaded")
    assert len(free) == 3 * len(python_types.STEPS) + 1
    assert {(10, 10), (1000, 1000), (1000, 10000)} <= set(python_types.STEPS)
    for version in ("3.11.7", "3.13.1"):
        (row,) = outside_rows(version)
        assert row in free


def printed(capsys: pytest.CaptureFixture[str], points: list[Point], version: str, **more: Any) -> list[str]:
    """Return the lines of a table of made-up results."""
    found = report_data.results(points, noise=0.0, **more)
    found.machine["python"] = version
    python_types.PYTHON.print_table(found)
    return capsys.readouterr().out.splitlines()


def test_the_geometric_mean_of_the_rows_with_work_outside(capsys: pytest.CaptureFixture[str]) -> None:
    version = "3.14.7 free-threaded"
    mean = next(row for row in outside_rows(version) if isinstance(row, python_types.Mean))
    points = mean.points("python", None)
    assert len(points) == 2 * 3 * len(python_types.STEPS)

    def speed(point: Point) -> float:
        """Return 4 times the speed for 2 threads, 0.5 times for 8, and the same for 32."""
        return 1000.0 * ({2: 4.0, 8: 0.5, 32: 1.0}[point.threads] if point.lock == "fairlock.Lock" else 1.0)

    line = next(one for one in printed(capsys, points, version, shape=speed) if one.startswith(mean.name))
    assert line.split()[-4:] == ["1.26", ">=", "1.1", "met"]  # the third root of 4 * 0.5 * 1
    assert not any(one.startswith(mean.name) for one in printed(capsys, points[2:], version, shape=speed))


@pytest.mark.parametrize(("fairness", "verdict"), [(0.99, "met"), (0.92, "met"), (0.8, "MISSED")])
def test_fairness_is_compared_with_that_of_threading(
    fairness: float, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = outside_rows("3.13.1")

    def change(point: Point, metrics: dict[str, Any], run: int) -> None:
        metrics["fairness"] = fairness if point.lock == "fairlock.Lock" else 0.96

    lines = printed(capsys, row.points("python", None), "3.13.1", change=change)
    line = next(one for one in lines if one.lstrip().startswith("slowest/fastest"))
    assert line.split() == ["slowest/fastest", f"{fairness:.2f}", ">=", "threading's", verdict]


def test_the_rows_are_repeated_from_their_file(tmp_path: Path) -> None:
    assert bench("python", "--only=memory", "--runs=1", "--json=a.json", cwd=tmp_path).returncode == 0
    done = bench("--from=a.json", "--json=b.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    a, b = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert a["plan"] == b["plan"]


def test_without_pyperf(tmp_path: Path) -> None:
    """Said before anything is measured."""
    code = "import sys; sys.modules['pyperf'] = None; from fairlock.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", code, "bench", "python", "--only=uncontended"]
    done = processes.run(command, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "fairlock: the uncontended rows need pyperf: pip install 'fairlock[lab]'\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["pithon"], "did you mean python?"),
        (["python", "--runs=0"], "--runs"),
        (["python", "--seconds=-1"], "--seconds"),
        (["python", "--only=nothing-like-that"], "no row"),
        ([], "WORKLOAD"),
    ],
)
def test_wrong_arguments(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    done = bench(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout
