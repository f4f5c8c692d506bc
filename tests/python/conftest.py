"""What tests of the Python types share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Python = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def python(tmp_path: Path) -> Python:
    """Start this Python in an empty folder, where the sources do not hide the installed package; gives what it left."""

    def call(*arguments: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=tmp_path)

    return call
