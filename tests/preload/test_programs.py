# SPDX-License-Identifier: Apache-2.0
"""Real programs do under the preloaded locks what they do with their own. `programs` says which, and how to check."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import processes
import pytest
from programs import LOCKS, PROGRAMS
from programs.trial import FailedError, LockWatch, Program, Trial, attempt

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`fairlock run` needs Linux and glibc")


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Program:
    program = PROGRAMS[request.param]
    if missing := program.missing():
        pytest.skip(missing)
    return program


@pytest.mark.parametrize("lock", ["fair", "twa"])
@pytest.mark.parametrize("program", [name for name in PROGRAMS if PROGRAMS[name].quick], indirect=True)
def test_a_program_works(program: Program, lock: str) -> None:
    assert attempt(program, lock).failure == ""


@pytest.mark.slow
@pytest.mark.preload
@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("program", PROGRAMS, indirect=True)
def test_a_program_works_for_longer(program: Program, lock: str) -> None:
    assert attempt(program, lock, thorough=True).failure == ""


# --- failures are reported ---


def failure(run: Callable[[Trial], str]) -> str:
    return attempt(Program("made up", "", (), str, run), "fair").failure


def test_a_status_a_signal_and_a_timeout_are_reported() -> None:
    assert failure(lambda trial: trial.run("sh", "-c", "echo broken >&2; exit 3")) == "sh ended with status 3: broken"
    assert failure(lambda trial: trial.run("sh", "-c", "kill -ABRT $$")) == "sh ended with SIGABRT: no output"
    assert failure(lambda trial: trial.run("sleep", 30, limit=1)).startswith("no end after 1 s:\nprocess ")


def test_a_lock_that_was_not_loaded_is_reported(tmp_path: Path) -> None:
    watch = LockWatch(Trial("fair", "spin-then-park", tmp_path, thorough=False))
    with processes.start(["sleep", "0.1"]) as other:
        watch.wait(other.pid)
    with pytest.raises(FailedError, match=r"never seen with .*fair.so in memory"):
        watch.confirm(["sleep"])


def test_a_server_is_killed_when_its_client_fails() -> None:
    def run(trial: Trial) -> str:
        with trial.server("sleep", 600, ready=lambda: True) as server:
            servers.append(server)
            raise FailedError("a wrong answer")

    servers: list[int] = []
    assert failure(run) == "a wrong answer"
    assert not Path(f"/proc/{servers[0]}").exists()


def test_a_server_that_ends_is_reported() -> None:
    def run(trial: Trial) -> str:
        with trial.server("sh", "-c", "echo no room; exit 1", ready=lambda: False):
            return "not reached"

    assert failure(run) == "sh ended with status 1: no room"
