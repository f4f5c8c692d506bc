# SPDX-License-Identifier: Apache-2.0
"""The options of `fairlock_bench`: results files and scripts use them, so none is renamed or removed."""

from __future__ import annotations

import itertools
import json
from typing import Any

import processes
import pytest

from fairlock_lab.paths import bench_program

COMMON = ["--threads 1", "--seconds 0.01", "--warm-up 0", "--seed 3", "--pin", "--hogs 0"]
LOCK = ["--lock mcs", "--waiting yield", "--form mutex", "--permits 1"]
WORK = ["--generator mt19937", "--critical 2", "--non-critical 3", "--critical-on private", "--random"]
RECORDS = ["--timed", "--timed-apart", "--handover", "--migrations"]

# Every option of each family since the first version of the results files.
OPTIONS = {
    "contend": [*LOCK, *WORK, *RECORDS],
    "uncontended": LOCK,
    "overhead": [],
    "fork-join": [*LOCK, *WORK, *RECORDS, "--episodes 2"],
    "multi-lock": [*LOCK, *WORK, "--locks-held 2"],
    "invalidation-diameter": [],
    "throw": ["--registered-frames"],
    "atomic-exchange": ["--non-critical 5"],
}


def call(*arguments: str) -> processes.Result:
    return processes.run([bench_program(), *arguments], timeout=90)


@pytest.mark.parametrize("family", OPTIONS)
def test_each_family_accepts_each_of_its_options(family: str) -> None:
    if family not in json.loads(call("list").stdout)["families"]:
        pytest.skip(f"this build has no {family}")
    words = " ".join([*COMMON, *OPTIONS[family]]).split()
    result = call(family, *words)
    assert (result.returncode, result.stderr) == (0, "")
    metrics: dict[str, Any] = json.loads(result.stdout)
    assert metrics["rows"] if family == "overhead" else metrics["elapsed"] > 0


def test_leveldb_knows_its_options() -> None:
    """Without a LevelDB to open, the program must complain about the library, not about an option."""
    options = ["--db", "folder", "--entries", "1", "--fill", "--library", "libnone.so", "--version"]
    result = call("leveldb", *" ".join(COMMON).split(), *options)
    assert result.returncode == 2
    assert "libnone.so" in result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["contend", "--help"]], ids=" ".join)
def test_help_lists_every_family_and_option(arguments: list[str]) -> None:
    result = call(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    words = set(result.stdout.split())
    assert set(OPTIONS) | {"leveldb"} <= words
    options = [option.split()[0] for option in (*COMMON, *itertools.chain(*OPTIONS.values()))]
    assert {*options, "--db", "--entries", "--fill", "--library", "--version"} <= words
    assert max(map(len, result.stdout.splitlines())) <= 120
