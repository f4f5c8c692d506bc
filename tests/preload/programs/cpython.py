# SPDX-License-Identifier: Apache-2.0
"""CPython: its own tests of threading and queue. The GIL and its locks are made of POSIX mutexes and semaphores."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import processes

from .trial import START_LIMIT, Program, Trial, number

# Prints the version and the real file, because a name in PATH may be a script of pyenv. Debian's Python has no tests.
WITH_TESTS = "import platform, sys, test.test_threading; print(platform.python_version(), sys.executable)"


def suites(version: str) -> Callable[[Trial], str]:
    def run(trial: Trial) -> str:
        # An environment without packages: a package may install a file that every Python runs first, and tests notice.
        trial.help_with(find(version)[1], "-m", "venv", "--without-pip", trial.folder / "venv")
        # Some tests fail if Python inherits an ignored SIGINT, as it does behind a shell's `&`.
        python = ["env", "--default-signal=INT", trial.folder / "venv/bin/python"]
        words = ["-m", "test", "-W", "--timeout", 150, "test_threading", "test_queue"]
        output = trial.run(*python, *words, limit=300, complaint=r"^(?:FAIL|ERROR): .*", TMPDIR=str(trial.folder))
        tests = number(r"Total tests: run=(\d+)", output)
        return f"{tests:.0f} tests"

    return run


@functools.cache
def find(version: str) -> tuple[str, str]:
    """Return the exact version and the file of a Python that has its tests, or two empty strings."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    places = [Path(folder) / name for folder in os.get_exec_path()]
    for file in [*places, *pyenv.glob(f"versions/{version}.*/bin/{name}")]:
        if os.access(file, os.X_OK):
            answer = processes.run([file, "-c", WITH_TESTS], timeout=START_LIMIT)
            if answer.returncode == 0:
                exact, executable = answer.stdout.strip().split(maxsplit=1)
                return exact, executable
    return "", ""


def program(version: str) -> Program:
    def unusable() -> str:
        return "" if find(version)[1] else f"there is no Python {version} with its tests (pyenv installs one)"

    return Program(f"python-{version}", f"python{version}", (), lambda: find(version)[0], suites(version), unusable)


PROGRAMS = [program("3.11"), program("3.13")]
