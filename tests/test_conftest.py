# SPDX-License-Identifier: Apache-2.0
"""Workers share folders and values that take long to make. One worker makes each, and all get the result or error."""

from __future__ import annotations

import os
import time
from pathlib import Path

import processes
import pytest
from conftest import Shared


def test_a_folder_is_filled_once(tmp_path: Path) -> None:
    calls: list[Path] = []
    folders = [Shared(tmp_path).folder("thing", calls.append) for _ in range(2)]
    assert folders == [tmp_path / "thing"] * 2
    assert calls == folders[:1]


def test_a_value_is_computed_once(tmp_path: Path) -> None:
    calls: list[int] = []

    def make() -> dict[str, int]:
        calls.append(1)
        return {"answer": 42}

    assert [Shared(tmp_path).value("thing", make) for _ in range(2)] == [{"answer": 42}] * 2
    assert calls == [1]


def test_processes_wait_for_the_process_that_fills_the_folder(tmp_path: Path) -> None:
    def fill(folder: Path) -> None:
        time.sleep(0.1)
        (folder / str(os.getpid())).touch()

    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            folder = Shared(tmp_path).folder("thing", fill)
            os._exit(0 if len(list(folder.iterdir())) == 1 else 1)
        children.append(child)
    assert [processes.wait(child) for child in children] == [0] * 4


def test_a_failure_is_reported_to_all_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        Shared(tmp_path).folder("thing", lambda _: 1 / 0)
    with pytest.raises(pytest.fail.Exception, match=r"thing could not be made:\sZeroDivisionError: division by zero"):
        Shared(tmp_path).folder("thing", lambda _: None)


def test_an_interrupted_attempt_starts_again(tmp_path: Path) -> None:
    def interrupt(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Shared(tmp_path).folder("thing", interrupt)
    folder = Shared(tmp_path).folder("thing", lambda folder: (folder / "whole").touch())
    assert [file.name for file in folder.iterdir()] == ["whole"]
