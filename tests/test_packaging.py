# SPDX-License-Identifier: Apache-2.0
"""A user installs the types, the headers and `fairlock run`, and the lab only on request. Headers need no Python."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import build_wheels
import processes
import pytest
from conftest import Shared

from fairlock import cli

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


# --- paths to the headers ---


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
    assert len((ROOT / "examples" / "cpp" / "main.cpp").read_text().splitlines()) <= 20


# --- the wheel ---


@pytest.fixture(scope="module")
def wheel(shared: Shared) -> Path:
    """Return the wheel of the product. It reuses the build that `make test` installed, so this compiles nothing."""
    folder = shared.folder("wheel", lambda folder: build_wheels.build(Path(sys.executable), ROOT, folder))
    (archive,) = folder.glob("fairlock-*.whl")
    return archive


@pytest.fixture(scope="module")
def product(wheel: Path, shared: Shared) -> Path:
    """Return the Python of an environment that contains only the wheel."""

    def fill(folder: Path) -> None:
        python = Path(sys.executable)
        build_wheels.install(python, python, wheel, folder / "environment")

    return shared.folder("product", fill) / "environment" / "bin" / "python"


def contents(wheel: Path) -> set[str]:
    """Return the names of the files in a wheel, without those that describe it."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.mark.slow
def test_the_wheel_has_the_types_the_headers_and_fairlock_run_and_nothing_else(wheel: Path) -> None:
    names = contents(wheel)
    assert {name.partition("/")[0] for name in names} == {"fairlock"}
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "fairlock").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    headers = {f"fairlock/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "include").rglob("*.h*")}
    assert {name for name in names if name.endswith((".h", ".hpp"))} == headers
    (module,) = (name for name in names if name.endswith(".so") and not name.startswith("fairlock/preload/"))
    assert module.startswith("fairlock/_locks.")
    others = {name for name in names if not name.endswith((".py", ".h", ".hpp", ".so", ".cmake"))}
    assert others == {"fairlock/py.typed", "fairlock/_locks.pyi"}


@pytest.mark.slow
def test_the_wheel_needs_no_other_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    assert any("Free Threading" in line for line in lines)
    assert [line for line in lines if line.startswith("Requires-Dist") and "extra ==" not in line] == []


@pytest.mark.slow
def test_the_wheel_works_where_there_is_no_compiler(product: Path, tmp_path: Path) -> None:
    assert "works on Python" in build_wheels.smoke_test(product)
    assert run(product, "-c", "import fairlock; print(fairlock.Lock().algorithm)", cwd=tmp_path) == "fair"


@pytest.mark.slow
def test_the_smoke_test_refuses_a_path_with_a_compiler(tmp_path: Path) -> None:
    (tmp_path / "c++").touch(mode=0o755)
    with pytest.raises(build_wheels.WheelError, match="a compiler on the path"):
        build_wheels.smoke_test(tmp_path / "python")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="`fairlock run` is for Linux")
def test_fairlock_run_works_without_the_lab(product: Path, tmp_path: Path) -> None:
    program = product.with_name("fairlock")
    assert run(program, "run", "--lock", "twa", "--", sys.executable, "-c", "print('ran')", cwd=tmp_path) == "ran"


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(cli.LAB_COMMANDS))
def test_without_the_lab_its_commands_explain_how_to_get_it(product: Path, tmp_path: Path, command: str) -> None:
    done = processes.run([product.with_name("fairlock"), command], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"fairlock: fairlock {command} needs the lab: pip install 'fairlock[lab]'")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="manylinux wheels are for Linux")
def test_the_wheel_can_be_made_manylinux_and_is_small(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("auditwheel", reason="auditwheel is not installed: make test installs it")
    repaired = build_wheels.repair(wheel, tmp_path)
    assert "manylinux" in repaired.name or "musllinux" in repaired.name
    # auditwheel adds no library: the types need only libraries that every Linux of that age has.
    assert not [name for name in contents(repaired) if ".libs/" in name]
    build_wheels.check_size(repaired)


def test_a_wheel_that_is_too_large_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "fairlock-1-any.whl"
    wheel.write_bytes(bytes(build_wheels.LARGEST))
    build_wheels.check_size(wheel)
    wheel.write_bytes(bytes(build_wheels.LARGEST + 1))
    with pytest.raises(build_wheels.WheelError, match="at most 2 MB"):
        build_wheels.check_size(wheel)


# --- the lab ---


def test_the_lab_adds_its_commands_through_entry_points() -> None:
    points = metadata.entry_points(group="fairlock.commands")
    assert {point.name for point in points} == {*cli.LAB_COMMANDS}
    assert {point.dist.name for point in points if point.dist is not None} == {"fairlock-lab"}
    for point in points:
        module = point.load()
        assert callable(module.add_arguments)
        assert callable(module.run)


# --- the source distribution ---


@pytest.fixture(scope="module")
def sdist(shared: Shared) -> Path:
    if not importlib.util.find_spec("build"):
        pytest.skip("build is not installed: make test installs it")

    def fill(folder: Path) -> None:
        run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT)

    (archive,) = shared.folder("sdist", fill).glob("fairlock-*.tar.gz")
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
@pytest.mark.exhaustive
def test_a_wheel_from_the_sdist_has_the_same_files(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """This compiles everything, as `pip install` does from a source distribution."""
    options = ["-C", f"build-dir={tmp_path / 'build'}"]
    other = build_wheels.build(Path(sys.executable), sdist, tmp_path, *options)
    assert contents(other) == contents(wheel)


# --- make wheels ---


def test_make_wheels_finds_the_pythons_of_this_machine() -> None:
    interpreters = build_wheels.all_interpreters()
    tags = [interpreter.tag for interpreter in interpreters]
    assert len(tags) == len(set(tags))
    own = build_wheels.describe(sys.executable)
    assert own is not None
    assert own in interpreters


@pytest.mark.parametrize("word", ["python2.7", "/no/such/python", "true"])
def test_make_wheels_refuses_an_unsupported_python(word: str) -> None:
    done = processes.run([sys.executable, ROOT / "tools" / "build_wheels.py", word])
    assert (done.returncode, done.stdout) == (2, "")
    assert word in done.stderr
    assert "CPython 3.11 to 3.14" in done.stderr
    assert done.stderr.count("\n") == 1


def test_make_wheels_ignores_a_broken_python(tmp_path: Path) -> None:
    for name, script in (("silent", "exit 0"), ("failing", "exit 1"), ("talking", "echo hello")):
        python = tmp_path / name
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        assert build_wheels.describe(python) is None
    assert build_wheels.describe(shutil.which("sh") or "sh") is None
