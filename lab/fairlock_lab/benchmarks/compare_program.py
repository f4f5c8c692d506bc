# SPDX-License-Identifier: Apache-2.0
"""One program under several locks: each run of the program is a sample (``fairlock run --lock all -- program``)."""

from __future__ import annotations

import contextlib
import math
import re
import resource
import shlex
import shutil
import signal
import sys
from pathlib import Path

from fairlock.run import python_program
from fairlock_lab.benchmarks import process, programs
from fairlock_lab.benchmarks.other_work import OtherWork
from fairlock_lab.benchmarks.process import GRACE, EndedProcess, SampleError
from fairlock_lab.benchmarks.results import Metrics, Option, Plan, Point

WORKLOAD = FAMILY = "program"
MEASURES = (
    *("score", "cost", "wall", "user", "system", "max_rss"),
    *("voluntary_switches", "involuntary_switches"),
)
# The options that find a number in the program's output, and their metrics.
PRINTED = {"measure": "score", "measure-lower": "cost"}

SLOWEST = 20  # times as long as with glibc's lock: a program that takes longer counts as hanging
A_DAY = 86400.0
SHORTEST = 0.2  # seconds: the share of other work in a shorter run is unknown


def point_of(lock: str, waiting: str | None, options: dict[str, Option], seconds: float) -> Point:
    name = Path(shlex.split(str(options["command"]))[0]).name
    return Point(WORKLOAD, name, lock, waiting, None, 0, 0, seconds, FAMILY, options)


def words(point: Point) -> list[str]:
    """Return the words of the program's command line; none if it is not one."""
    try:
        return shlex.split(str(point.options.get("command", "")))
    except ValueError:  # a quotation without an end
        return []


def well_formed(point: Point) -> bool:
    """Return whether the options of a point, which may come from a file, are those of a comparison."""
    options = point.options
    patterns = [str(options[name]) for name in PRINTED if name in options]
    try:
        return bool(words(point)) and 0 < float(options.get("timeout", 1)) <= A_DAY and all(map(re.compile, patterns))
    except (ValueError, re.error):
        return False


def missing(point: Point) -> str:
    name = words(point)[0]
    return "" if shutil.which(name) else f"there is no program {name} here"


def sample(point: Point, plan: Plan, seed: int) -> Metrics:
    return run(point)


def run(point: Point) -> Metrics:
    """Run the program once, to its end."""
    options = point.options
    limit = float(options.get("timeout") or (SLOWEST * point.seconds + GRACE if point.seconds else A_DAY))
    environment = python_program.environment(programs.environment(point), bool(options.get("python")))
    others, observer = OtherWork(), programs.LockObserver(point)
    unread = not options.get("show") and not any(name in options for name in PRINTED)
    try:
        ended = process.run(words(point), limit, env=environment, observer=observer, discard=unread)
    except OSError as error:
        raise SampleError(f"it did not start: {error.strerror}") from error
    share = others.share()
    if options.get("show"):
        print(f"--- {point.label}\n{ended.output}{ended.errors}", end="", file=sys.stderr)
    verified = observer.verdict(ended.errors)
    if ended.status != 0:
        raise SampleError(ending(ended))
    usage = ended.usage
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        **{metric: figure(ended, str(options[name]), name) for name, metric in PRINTED.items() if name in options},
        "wall": ended.seconds,
        "user": usage.ru_utime,
        "system": usage.ru_stime,
        # Until the child process executes the program, it has the memory of this process, which may hide the program's.
        "max_rss": 1024 * usage.ru_maxrss if usage.ru_maxrss > own else None,
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
        "other_work": share if ended.seconds >= SHORTEST else None,
        **verified,
    }


def ending(ended: EndedProcess) -> str:
    if ended.status < 0:
        known = -ended.status in {int(number) for number in signal.Signals}  # real-time signals have no names
        text = f"it was killed by {signal.Signals(-ended.status).name if known else f'signal {-ended.status}'}"
    else:
        text = f"it ended with status {ended.status}"
    last = [line.strip() for line in ended.errors.splitlines() if line.strip()][-1:]
    return ": ".join([text, *last])


def figure(ended: EndedProcess, pattern: str, name: str) -> float:
    """Return the last number in the output that the pattern finds."""
    matches = re.findall(pattern, ended.output + ended.errors, re.MULTILINE)
    if not matches:
        raise SampleError(f"--{name} {pattern} matches nothing in the output")
    with contextlib.suppress(ValueError):
        if math.isfinite(value := float(matches[-1].replace(",", ""))):
            return value
    raise SampleError(f"--{name} {pattern} matches '{matches[-1]}', which is not a number")
