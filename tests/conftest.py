# SPDX-License-Identifier: Apache-2.0
"""Fixtures for all tests: the command line and Python as a user calls them, and builds that all workers share."""

from __future__ import annotations

import fcntl
import json
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import pytest

Command = Callable[..., processes.Result]
Python = Callable[..., processes.Result]

TERMINATING = (signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def pytest_configure() -> None:
    """Start every program of a test with the default action for each signal that terminates a program.

    A background job ignores SIGINT, and under `nohup` also SIGHUP. Every program that it starts inherits this, and a
    shell script cannot even trap a signal that it inherits as ignored. A handler is not inherited: the new program gets
    the default action instead.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in TERMINATING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # the tests themselves still ignore it


@pytest.fixture(scope="session")
def fairlock() -> Command:
    """Call the installed `fairlock` and return the finished process."""
    program = Path(sys.executable).with_name("fairlock")

    def call(*arguments: str) -> processes.Result:
        return processes.run([program, *arguments], timeout=900)

    return call


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Run this Python in an empty folder, where the sources do not hide the package. Return the finished process."""

    def call(*arguments: str | Path, timeout: float = 60) -> processes.Result:
        return processes.run([sys.executable, *map(str, arguments)], timeout, cwd=tmp_path)

    return call


class Shared:
    """Folders and values that take long to make. One worker makes each, and the others wait for it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, name: str, fill: Callable[[Path], object]) -> Path:
        """Return the folder of this name, after `fill` has been called with it once."""
        folder, outcome = self.root / name, self.root / f"{name}.outcome"
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
            if not outcome.exists():
                shutil.rmtree(folder, ignore_errors=True)  # from a worker that was interrupted
                folder.mkdir()
                try:
                    fill(folder)
                except (Exception, pytest.fail.Exception) as error:
                    outcome.write_text(f"{type(error).__name__}: {error}")
                    raise
                outcome.touch()
        if problem := outcome.read_text():
            pytest.fail(f"{name} could not be made:\n{problem}", pytrace=False)
        return folder

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the value that `make` returns, after one call for all workers. It must be JSON."""
        folder = self.folder(name, lambda folder: (folder / "value.json").write_text(json.dumps(make())))
        return json.loads((folder / "value.json").read_text())


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    own = tmp_path_factory.getbasetemp()
    is_worker = hasattr(request.config, "workerinput")  # each worker has a folder in a common one
    return Shared((own.parent if is_worker else own) / "shared")
