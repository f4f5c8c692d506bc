# SPDX-License-Identifier: Apache-2.0
"""RocksDB's db_bench with the lab's settings, and a buffer so small that it flushes and merges files all the time."""

from __future__ import annotations

import re

from fairlock_lab.benchmarks import rocksdb

from .trial import Program, Trial, demand, version_of


def run(trial: Trial) -> str:
    benchmarks = ["fillseq", rocksdb.BENCHMARK, "compact", "verifychecksum", "readrandom"]
    wanted = {
        **rocksdb.PAPER,
        "benchmarks": ",".join(benchmarks),
        "threads": 4,
        "num": 40_000,
        "duration": trial.times(3),
        "write_buffer_size": 1 << 19,
        "db": str(trial.folder / "db"),
    }
    output = trial.run(rocksdb.PROGRAM, *rocksdb.flags(wanted)[0])
    demand(re.findall(r"^(\w+) +: ", output, re.MULTILINE), benchmarks, "what was run")
    for hits, reads in re.findall(r"\((\d+) of (\d+) found\)", output):
        demand(hits, reads, "keys that were found")
    return f"{rocksdb.figures(output)['throughput']:.0f} reads/s"


PROGRAMS = [
    Program(
        "rocksdb",
        rocksdb.PACKAGE,
        (rocksdb.PROGRAM,),
        lambda: version_of(rocksdb.PROGRAM, "--version"),
        run,
    )
]
