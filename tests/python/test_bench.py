"""``fairlock bench``: its rows run, and wrong arguments are one clear line. No timings are judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def bench(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("fairlock")
    return subprocess.run([program, "bench", *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)


def test_rows_and_json(tmp_path: Path) -> None:
    done = bench(
        "python",
        "--only",
        "memory,Semaphore(1),re-acquires,ping",
        "--rounds=1",
        "--seconds=0.05",
        "--json=r.json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "targets met" in done.stdout
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["rounds"] == 1
    rows = {row["name"]: row["figures"] for row in found["rows"]}
    assert rows["memory of a Lock()"][0]["value"] <= 128
    assert rows["Lock('twa'), holder that re-acquires at once"][0]["value"] <= 1
    assert any("Semaphore(1)" in name for name in rows)
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["pithon"], "did you mean python?"),
        (["python", "--rounds=0"], "--rounds"),
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
