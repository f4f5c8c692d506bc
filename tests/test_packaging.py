"""What a stranger installs: headers and CMake config, in the wheel and without Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


@pytest.mark.parametrize("cwd", [ROOT, Path("/")], ids=["clone", "elsewhere"])
def test_the_module_prints_existing_paths(cwd: Path) -> None:
    include = Path(run(sys.executable, "-m", "fairlock", "--include", cwd=cwd))
    assert (include / "fairlock" / "fairlock.hpp").is_file()
    cmake = Path(run(sys.executable, "-m", "fairlock", "--cmake-dir", cwd=cwd))
    assert (cmake / "fairlockConfig.cmake").is_file()


def test_missing_headers_are_one_clear_line(tmp_path: Path) -> None:
    package = tmp_path / "fairlock"
    package.mkdir()
    for source in (ROOT / "fairlock").glob("*.py"):
        (package / source.name).write_text(source.read_text())
    done = subprocess.run(
        [sys.executable, "-S", "-m", "fairlock", "--include"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("fairlock: could not find the C++ headers")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("source", ["wheel", "cmake --install"])
def test_the_example_needs_only_the_installed_headers(tmp_path: Path, source: str) -> None:
    if source == "wheel":
        where = run(sys.executable, "-m", "fairlock", "--cmake-dir", cwd=Path("/"))
    else:
        run("cmake", "-S", ROOT, "-B", tmp_path / "headers")
        cache = (tmp_path / "headers" / "CMakeCache.txt").read_text()
        assert "Python_EXECUTABLE" not in cache
        run("cmake", "--install", tmp_path / "headers", "--prefix", tmp_path / "prefix")
        where = str(tmp_path / "prefix")
    build = tmp_path / "example"
    run("cmake", "-S", ROOT / "examples" / "cpp", "-B", build, f"-DCMAKE_PREFIX_PATH={where}")
    run("cmake", "--build", build)
    assert run(build / "counter") == "counted to 200000"
    assert len((ROOT / "examples" / "cpp" / "main.cpp").read_text().splitlines()) <= 15
