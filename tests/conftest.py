"""What tests share: the command line and Python, as a user calls them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
Python = Callable[..., subprocess.CompletedProcess[str]]


def pytest_configure() -> None:
    # A shell's job in the background ignores Ctrl-C, and so would the programs that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def fairlock() -> Command:
    """Call the installed `fairlock`; gives the finished process."""
    program = Path(sys.executable).with_name("fairlock")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=900)

    return call


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Start this Python in an empty folder, where the sources do not hide the package; gives the finished process."""

    def call(*arguments: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=tmp_path)

    return call
