"""What tests share: the command line, as a user calls it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def fairlock() -> Command:
    """Call the installed `fairlock`; gives the finished process."""
    program = Path(sys.executable).with_name("fairlock")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=900)

    return call
