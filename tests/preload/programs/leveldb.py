# SPDX-License-Identifier: Apache-2.0
"""LevelDB's readrandom, by the lab's driver, which fails when an entry is missing."""

from __future__ import annotations

import json

import processes

from fairlock.run import preload
from fairlock_lab.paths import bench_program

from .trial import Program, Trial, demand

ENTRIES = 20_000


def run(trial: Trial) -> str:
    driver = [bench_program(), "leveldb", "--db", trial.folder / "db", "--entries", ENTRIES]
    trial.run(*driver, "--fill")
    metrics = json.loads(trial.run(*driver, "--threads", 4, "--seconds", trial.times(8) / 4))
    wanted = None if trial.lock == preload.GLIBC else {"lock": trial.lock, "waiting": trial.waiting}
    demand(metrics["preloaded"], wanted, "the lock that the driver reports")
    return f"{metrics['throughput']:.0f} reads/s"


def ask_version() -> processes.Result:
    return processes.run([bench_program(), "leveldb", "--version"], timeout=30)


def unusable() -> str:
    try:
        return ask_version().stderr.strip()
    except FileNotFoundError as error:
        return str(error)


PROGRAMS = [
    Program("leveldb", "libleveldb1d", (), lambda: str(json.loads(ask_version().stdout)["version"]), run, unusable)
]
