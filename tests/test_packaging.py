# SPDX-License-Identifier: Apache-2.0
"""What a stranger installs: the types, from sources or as a wheel; headers and CMake config, also without Python."""

from __future__ import annotations

import importlib.util
import os
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import processes
import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    done = processes.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=900,
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
    done = processes.run(
        [sys.executable, "-S", "-m", "fairlock", "--include"],
        cwd=tmp_path,
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


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not importlib.util.find_spec("build"):
        pytest.skip("build is not installed: make test does")
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT)
    (archive,) = folder.glob("fairlock-*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the types, without the lab, which takes long; from the source distribution, as pip would make it."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    settings = ["-C", f"build-dir={folder / 'build'}", "-C", "cmake.define.FAIRLOCK_LAB=OFF"]
    run(sys.executable, "-m", "pip", "wheel", *offline, *settings, "--wheel-dir", folder, sdist)
    (archive,) = folder.glob("fairlock-*.whl")
    return archive


@pytest.mark.slow
def test_the_sdist_is_complete(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "PKG-INFO",
        "LICENSE",
        "CMakeLists.txt",
        "fairlock/py.typed",
        "fairlock/_locks.pyi",
        "tests/smoke.py",
    } <= names
    for folder, ending in (("include", "hpp"), ("src", "cpp"), ("src", "hpp")):
        for path in (ROOT / folder).rglob(f"*.{ending}"):
            assert path.relative_to(ROOT).as_posix() in names
    assert not [name for name in names if name.startswith((".venv", "build/", ".ci"))]


@pytest.mark.slow
def test_the_wheel_works_where_nothing_else_is(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (
            archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA")
        )
    assert "Free Threading" in metadata
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line] == []
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    install = ["--disable-pip-version-check", "install", "--no-index", "--quiet"]
    run(sys.executable, "-m", "pip", "--python", python, *install, wheel)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "works on Python" in run(python, ROOT / "tests" / "smoke.py", cwd=empty)
    assert run(python, "-c", "import fairlock; print(fairlock.Lock().algorithm)", cwd=empty) == "fair"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="manylinux is of Linux")
def test_the_wheel_can_be_made_manylinux(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("auditwheel", reason="auditwheel is not installed: make test does")
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", tmp_path, wheel)
    (repaired,) = tmp_path.glob("*.whl")
    assert "manylinux" in repaired.name or "musllinux" in repaired.name
    # Nothing had to be bundled: the types need only what every Linux of that age has.
    with zipfile.ZipFile(repaired) as archive:
        assert not [name for name in archive.namelist() if ".libs/" in name]
