"""``fairlock bench python``: its rows run, without the lab too, and wrong arguments are one clear line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import processes
import pytest
from support import bench


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
