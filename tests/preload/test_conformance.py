# SPDX-License-Identifier: Apache-2.0
"""The requirements of POSIX for mutexes, conditions and semaphores: each lock has the same outcomes as glibc."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import processes
import pytest
from conftest import Shared

from fairlock.run import lock_statistics, preload

SOURCES = Path(__file__).parent / "conformance"
FLAGS = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
OTHER_WAITINGS = [waiting for waiting in preload.waiting_policies() if waiting != preload.DEFAULT_WAITING]

Outcomes = dict[str, str]


@pytest.fixture(scope="session")
def program(shared: Shared) -> Path:
    """Compile the suite, without its C++ part if there is no C++ compiler. One worker compiles it for all workers."""
    if shutil.which(os.environ.get("CC", "cc")) is None:
        pytest.skip("no C compiler")
    return shared.folder("conformance", compile_suite) / "conformance"


def compile_suite(folder: Path) -> None:
    c, cpp = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")

    def compile_with(compiler: str, *arguments: str | Path) -> None:
        command = [compiler, *FLAGS, *map(str, arguments)]
        done = processes.run(command, timeout=300, cwd=folder)
        assert done.returncode == 0, done.stderr

    for library in (SOURCES / "libraries").glob("*.c"):
        compile_with(c, "-shared", "-fPIC", "-std=gnu11", library, "-o", f"lib{library.stem}.so")
    compile_with(c, "-c", "-std=gnu11", *SOURCES.glob("*.c"))
    if shutil.which(cpp) is not None:
        compile_with(cpp, "-c", "-std=c++20", *SOURCES.glob("*.cpp"))
    linker = cpp if shutil.which(cpp) else c
    compile_with(linker, *folder.glob("*.o"), "-L.", "-learly", "-Wl,-rpath,$ORIGIN", "-ldl", "-o", "conformance")


def outcomes(program: Path, environment: Mapping[str, str]) -> Outcomes:
    """Run all tests; return the outcome of each, by name."""
    done = processes.run([program], env=environment, timeout=1200)
    assert done.returncode in (0, 1), done.stderr
    results = {}
    for line in done.stdout.splitlines():
        outcome, _, rest = line.partition(" ")
        name, _, message = rest.partition(": ")
        results[name] = f"{outcome}: {message}" if message else outcome
    return results


@pytest.fixture(scope="session")
def glibc(program: Path, shared: Shared) -> Outcomes:
    value: Outcomes = shared.value("conformance-glibc", lambda: outcomes(program, preload.environment(preload.GLIBC)))
    return value


def test_every_test_has_its_own_name_and_a_requirement(program: Path) -> None:
    done = processes.run([program, "--list"], check=True)
    names, requirements = zip(*(line.split("\t") for line in done.stdout.splitlines()), strict=True)
    assert len(names) >= 120
    assert len(set(names)) == len(names)
    assert all(len(requirement) > 20 for requirement in requirements)


def test_glibc_passes(glibc: Outcomes) -> None:
    assert {
        name: outcome for name, outcome in glibc.items() if outcome != "ok" and not outcome.startswith("skipped")
    } == {}


@pytest.mark.parametrize("lock", preload.locks())
def test_a_lock_has_the_outcomes_of_glibc(program: Path, glibc: Outcomes, lock: str) -> None:
    assert outcomes(program, preload.environment(lock)) == glibc


@pytest.mark.parametrize("lock", [preload.GLIBC, preload.DEFAULT_LOCK])
def test_statistics_change_no_outcome(program: Path, glibc: Outcomes, lock: str, tmp_path: Path) -> None:
    environment = preload.preloading(lock_statistics.library(), preload.environment(lock))
    assert outcomes(program, {**environment, "FAIRLOCK_STATS": str(tmp_path / "process")}) == glibc


@pytest.mark.preload
@pytest.mark.slow
@pytest.mark.parametrize("waiting", OTHER_WAITINGS)
@pytest.mark.parametrize("lock", preload.locks())
def test_waiting_policies_change_no_outcome(program: Path, glibc: Outcomes, lock: str, waiting: str) -> None:
    assert outcomes(program, preload.environment(lock, waiting)) == glibc
