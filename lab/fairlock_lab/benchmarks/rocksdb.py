# SPDX-License-Identifier: Apache-2.0
"""RocksDB's ``readwhilewriting``, run by the ``db_bench`` that comes with RocksDB.

One thread writes and the others read; what they read in a second is counted. The paper's 200 seconds fill an empty
database on their way, and spend most of their time reading from files. A short sample would only ever see an empty one,
so it begins with one that is full: all samples with the same.
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

from fairlock.usage import UsageError
from fairlock_lab.benchmarks import python_crew
from fairlock_lab.benchmarks.other_work import OtherWork
from fairlock_lab.benchmarks.process import GRACE, Ended, SampleError, call
from fairlock_lab.benchmarks.process import run as run_to_end
from fairlock_lab.benchmarks.programs import Sight, environment, filled, shelf
from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point

PROGRAM, PACKAGE = "db_bench", "rocksdb-tools"
FILLING = 600.0  # seconds that it may take
BENCHMARK = "readwhilewriting"

# From the TWA paper, footnote 7: one shard of a small cache, so that its lock is wanted all the time.
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
    """Measure once: in whole seconds, because the program counts in these, and without a warm-up."""
    if not point.options["entries"]:
        raise UsageError(f"workload {point.workload}: --set entries: a number from 1")
    if plan.pin:
        raise UsageError(f"{PROGRAM} does not tie its threads to processors: leave --pin out")
    entries, seconds = point.options["entries"], math.ceil(point.seconds)
    wanted: dict[str, Option] = {
        "benchmarks": BENCHMARK,
        "threads": point.threads,
        "duration": seconds,
        "num": entries,
        "seed": seed,
        **PAPER,
    }
    with tempfile.TemporaryDirectory(dir=shelf()) as folder:
        database = Path(folder) / "db"
        if point.options.get("full", True):
            full = filled(shelf() / f"rocksdb-{entries}", lambda part: fill(part, entries))
            shutil.copytree(full, database, copy_function=link_or_copy)
            wanted["use_existing_db"] = 1
        words, unknown = flags({**wanted, "db": str(database)})
        others, sight = OtherWork(), Sight(point)
        with python_crew.hogs(point.hogs) if point.hogs else nullcontext():
            ended = run_to_end([PROGRAM, *words], seconds + GRACE, env=environment(point), look=sight)
        share = others.share()
    return {
        **figures(checked(ended)),
        **sight.found(ended.errors),
        "exclusion": "not asked",
        "other_work": share,
        "program": " ".join([PROGRAM, *(word for word in words if not word.startswith("--db="))]),
        **({"note": f"this {PROGRAM} has no {', '.join(unknown)}: left out"} if unknown else {}),
    }


def fill(folder: Path, entries: Option) -> None:
    words, _ = flags({"benchmarks": "fillseq", "threads": 1, "num": entries, "db": str(folder), **PAPER})
    checked(run_to_end([PROGRAM, *words], FILLING))


def figures(output: str) -> Metrics:
    """Read what the program printed. It counts reads of all threads together, so nothing is known of fairness."""
    found = RESULT.search(output)
    if found is None:
        raise SampleError(f"{PROGRAM} printed no line of {BENCHMARK}, but: {'; '.join(lines(output)[-1:])}")
    metrics: Metrics = {"throughput": float(found["rate"])}
    if found["seconds"]:
        seconds, operations = float(found["seconds"]), int(found["operations"])
        metrics = {"elapsed": seconds, "episodes": operations, "throughput": operations / seconds}
    if found["read"]:  # of one thread
        metrics["found"] = int(found["found"]) / max(1, int(found["read"]))
    return metrics


# --- the program ---


def checked(ended: Ended) -> str:
    """Return what it printed, if all went well."""
    if ended.status != 0:
        complaints = "; ".join(line for line in lines(ended.errors) if "error" in line.lower())
        raise SampleError(f"{PROGRAM} ended with status {ended.status}" + (f": {complaints}" if complaints else ""))
    return ended.output


def flags(wanted: dict[str, Option]) -> tuple[list[str], list[str]]:
    """Return the command line, without what this version does not know, and the names of that."""
    known = set(re.findall(r"^ +-(\w+) \(", help_of(PROGRAM), re.MULTILINE))
    words = [f"--{name}={value}" for name, value in wanted.items() if name in known]
    return words, [name for name in wanted if name not in known]


@functools.cache
def help_of(program: str) -> str:
    _, output, _ = call([program, "--help"], GRACE)
    return output


def lines(text: str) -> list[str]:
    return [line.strip() for line in re.split(r"[\r\n]", text) if line.strip()]


def link_or_copy(source: str, target: str) -> None:
    """Link tables, which are never written again, and copy what is."""
    if source.endswith(".sst"):
        os.link(source, target)
    else:
        shutil.copy2(source, target)
