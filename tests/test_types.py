# SPDX-License-Identifier: Apache-2.0
"""Type checkers see the right types: the stubs match the modules, and typical use passes mypy and pyright."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import processes
import pytest

SAMPLES = [str(Path(__file__).resolve().parent / "typing" / name) for name in ("samples.py", "lab_samples.py")]


def run(folder: Path, *command: str) -> processes.Result:
    # Run it in another folder: in the clone, the sources would hide the installed package.
    return processes.run([sys.executable, "-m", *command], cwd=folder, timeout=300)


@pytest.mark.slow
def test_the_stub_matches_the_native_types(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    # At run time, `waiting` raises an AttributeError that names `waiters`. For type checkers, it does not exist.
    allowed.write_text(r"fairlock\._locks\.\w+\.waiting")
    done = run(tmp_path, "mypy.stubtest", "--allowlist", str(allowed), "fairlock._locks", "fairlock.events")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_mypy_accepts_typical_use(tmp_path: Path) -> None:
    done = run(tmp_path, "mypy", "--strict", "--python-version", "3.11", *SAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("basedpyright"), reason="basedpyright is not installed: `make test-all` installs it"
)
def test_pyright_accepts_typical_use(tmp_path: Path) -> None:
    settings = {
        "typeCheckingMode": "strict",
        "include": SAMPLES,
        "reportUnnecessaryTypeIgnoreComment": "error",
        "enableTypeIgnoreComments": False,  # those are for mypy
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    done = run(tmp_path, "basedpyright", "--pythonpath", sys.executable, "--project", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
