# SPDX-License-Identifier: Apache-2.0
"""What tests share: the command line and Python, as a user calls them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import processes
import pytest

Command = Callable[..., processes.Result]
Python = Callable[..., processes.Result]


TERMINATING = (signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def pytest_configure() -> None:
    """Start every program of a test with the default action for each signal that terminates a program.

    A background job ignores SIGINT, and under `nohup` also SIGHUP. Every program that it starts inherits this, and a
    shell script cannot even trap a signal that it inherits as ignored. A handler is not inherited: a program that is
    started gets the default action instead.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in TERMINATING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # so that the tests themselves still ignore it


@pytest.fixture(scope="session")
def fairlock() -> Command:
    """Call the installed `fairlock`; gives the finished process."""
    program = Path(sys.executable).with_name("fairlock")

    def call(*arguments: str) -> processes.Result:
        return processes.run([program, *arguments], timeout=900)

    return call


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Start this Python in an empty folder, where the sources do not hide the package; gives the finished process."""

    def call(*arguments: str | Path, timeout: float = 60) -> processes.Result:
        return processes.run([sys.executable, *map(str, arguments)], timeout, cwd=tmp_path)

    return call
