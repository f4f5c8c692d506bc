# SPDX-License-Identifier: Apache-2.0
"""The runtime of the lab: every program of tests/lab/native."""

from __future__ import annotations

from pathlib import Path

import processes
import pytest
from conftest import Shared

SOURCES = Path(__file__).with_name("native")
PROGRAMS = sorted(source.stem for source in SOURCES.glob("*.cpp"))


def build(folder: Path) -> None:
    settings = ["-DCMAKE_BUILD_TYPE=Release"]
    processes.run(["cmake", "-S", SOURCES, "-B", folder, "-G", "Ninja", *settings], timeout=300, check=True)
    processes.run(["cmake", "--build", folder], timeout=600, check=True)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(shared: Shared, program: str) -> None:
    folder = shared.folder("lab-native", build)
    done = processes.run([folder / program], timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
