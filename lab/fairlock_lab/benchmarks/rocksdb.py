# SPDX-License-Identifier: Apache-2.0
"""RocksDB's ``readwhilewriting``, run by the ``db_bench`` that comes with RocksDB.

One thread writes and the others read; the reads per second count. In the paper, 200 seconds fill an empty database, and
most of this time goes into reading from files. A short sample would never see more than an empty database, so each
sample begins with a copy of the same full one.
"""

from __future__ import annotations

import functools
import math
import os
import re
import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path

from fairlock_lab.benchmarks import python_crew
from fairlock_lab.benchmarks.other_work import OtherWork
from fairlock_lab.benchmarks.process import GRACE, EndedProcess, SampleError, call
from fairlock_lab.benchmarks.process import run as run_to_end
from fairlock_lab.benchmarks.programs import LockObserver, database_folder, environment, filled_database
from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point
from fairlock_lab.errors import ArgumentError

PROGRAM, PACKAGE = "db_bench", "rocksdb-tools"
FILLING = 600.0  # seconds that filling a database may take
BENCHMARK = "readwhilewriting"

# The parameters of the TWA paper, footnote 7: a small cache with one shard, whose lock is always contended.
PAPER: dict[str, Option] = {
    "compression_type": "none",
    "mmap_read": 1,
    "mmap_write": 1,
    "cache_size": 100_000,
    "cache_numshardbits": 0,
    "sync": 0,
    "verify_checksum": 0,
}

RESULT = re.compile(
    rf"^{BENCHMARK} +: +(?P<micros>[\d.]+) micros/op (?P<rate>\d+) ops/sec"
    r"(?: (?P<seconds>[\d.]+) seconds (?P<operations>\d+) operations)?"
    r".*?(?:\((?P<found>\d+) of (?P<read>\d+) found\))?$",
    re.MULTILINE,
)


def missing(point: Point) -> str:
    program = shutil.which(PROGRAM)
    if program is None:
        return f"workload {point.workload}: no program {PROGRAM} in PATH: apt-get install {PACKAGE}"
    if BENCHMARK not in help_of(program):
        return (
            f"workload {point.workload}: {program} is not RocksDB's (it has no {BENCHMARK}): apt-get install {PACKAGE}"
        )
    return ""


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    """Take one sample, without a warm-up, and in whole seconds because that is the unit of the program."""
    if not point.options["entries"]:
        raise ArgumentError(f"workload {point.workload}: option entries: choose a number from 1")
    if plan.pin:
        raise ArgumentError(f"{PROGRAM} cannot pin its threads to processors: leave --pin out")
    entries, seconds = point.options["entries"], math.ceil(point.seconds)
    given: dict[str, Option] = {
        "benchmarks": BENCHMARK,
        "threads": point.threads,
        "duration": seconds,
        "num": entries,
        "seed": seed,
        **PAPER,
    }
    with tempfile.TemporaryDirectory(dir=database_folder()) as folder:
        database = Path(folder) / "db"
        if point.options.get("full", True):
            full = filled_database(database_folder() / f"rocksdb-{entries}", lambda part: fill(part, entries))
            shutil.copytree(full, database, copy_function=link_or_copy)
            given["use_existing_db"] = 1
        words, unknown = flags({**given, "db": str(database)})
        others, observer = OtherWork(), LockObserver(point)
        with python_crew.hogs(point.hogs) if point.hogs else nullcontext():
            ended = run_to_end([PROGRAM, *words], seconds + GRACE, env=environment(point), observer=observer)
        share = others.share()
    return {
        **figures(output_of(ended)),
        **observer.verdict(ended.errors),
        "exclusion": "not checked",
        "other_work": share,
        "program": " ".join([PROGRAM, *(word for word in words if not word.startswith("--db="))]),
        **({"note": f"this {PROGRAM} has no {', '.join(unknown)}: left out"} if unknown else {}),
    }


def fill(folder: Path, entries: Option) -> None:
    words, _ = flags({"benchmarks": "fillseq", "threads": 1, "num": entries, "db": str(folder), **PAPER})
    output_of(run_to_end([PROGRAM, *words], FILLING))


def figures(output: str) -> Metrics:
    """Parse the output of the program. The program counts the reads of all threads together, so fairness is unknown."""
    match = RESULT.search(output)
    if match is None:
        raise SampleError(f"{PROGRAM} printed no line for {BENCHMARK}. Its last line: {'; '.join(lines(output)[-1:])}")
    metrics: Metrics = {"throughput": float(match["rate"])}
    if match["seconds"]:
        seconds, operations = float(match["seconds"]), int(match["operations"])
        metrics = {"elapsed": seconds, "episodes": operations, "throughput": operations / seconds}
    if match["read"]:  # the counts of one thread
        metrics["found"] = int(match["found"]) / max(1, int(match["read"]))
    return metrics


# --- the program ---


def output_of(ended: EndedProcess) -> str:
    """Return the output of the program, or raise SampleError if it failed."""
    if ended.status != 0:
        errors = "; ".join(line for line in lines(ended.errors) if "error" in line.lower())
        raise SampleError(f"{PROGRAM} ended with status {ended.status}" + (f": {errors}" if errors else ""))
    return ended.output


def flags(given: dict[str, Option]) -> tuple[list[str], list[str]]:
    """Return the command line without the flags that this version lacks, and the names of these flags."""
    known = set(re.findall(r"^ +-(\w+) \(", help_of(PROGRAM), re.MULTILINE))
    words = [f"--{name}={value}" for name, value in given.items() if name in known]
    return words, [name for name in given if name not in known]


@functools.cache
def help_of(program: str) -> str:
    _, output, _ = call([program, "--help"], GRACE)
    return output


def lines(text: str) -> list[str]:
    return [line.strip() for line in re.split(r"[\r\n]", text) if line.strip()]


def link_or_copy(source: str, target: str) -> None:
    """Link a table, which is never written again, and copy any other file."""
    if source.endswith(".sst"):
        os.link(source, target)
    else:
        shutil.copy2(source, target)
