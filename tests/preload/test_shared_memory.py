# SPDX-License-Identifier: Apache-2.0
"""Under every lock, several processes may use objects in shared memory that were not declared process-shared."""

from __future__ import annotations

from pathlib import Path

import processes
import pytest

from fairlock.run import preload

SOURCES = Path(__file__).parent


def build(name: str, folder: Path) -> Path:
    source, program = SOURCES / f"{name}.c", folder / name
    processes.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", source, "-o", program], check=True)
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("shared_memory", tmp_path_factory.mktemp("shared"))


@pytest.mark.parametrize("memory", ["mmap", "shmat"])
@pytest.mark.parametrize("kind", ["mutex", "zero", "condition", "semaphore"])
@pytest.mark.parametrize("lock", preload.locks())
def test_processes_exclude_each_other(program: Path, lock: str, kind: str, memory: str) -> None:
    done = processes.run([program, kind, memory], env=preload.environment(lock))
    assert (done.returncode, done.stdout) == (0, "8000 of 8000\n")


@pytest.mark.parametrize("name", ["first_use", "permits"])
def test_the_programs_of_the_documentation_run(name: str, tmp_path: Path) -> None:
    done = processes.run([build(name, tmp_path)], env=preload.environment(preload.DEFAULT_LOCK))
    assert done.returncode == 0, done.stderr
