"""Real programs do under the preloaded locks what they do with their own. Which, and what is checked: `programs`."""

from __future__ import annotations

import sys

import pytest
from programs import LOCKS, PROGRAMS
from programs.trial import Program, attempt

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD with glibc is of Linux")


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Program:
    found = PROGRAMS[request.param]
    if missing := found.missing():
        pytest.skip(missing)
    return found


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
