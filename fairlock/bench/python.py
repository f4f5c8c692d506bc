"""The Python types against those of ``threading``: the table, its targets, and how each row is measured.

A ratio is the median over the rounds of the two samples of one round; who goes first alternates. Even two runs of the
same lock differ on a machine that others use too, so read the range. A missed target is printed as missed; the exit
status is 0 all the same.
"""

from __future__ import annotations

import statistics
import sys
import sysconfig
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import fairlock
from fairlock import table
from fairlock.bench import alone, crew

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
VERSION = sys.version_info[:2]


@dataclass(frozen=True)
class Figure:
    """One number of a row: what it is, and what it should be."""

    what: str
    value: float
    low: float
    high: float
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Row:
    name: str
    measure: Callable[[int, float], list[Figure]]


@dataclass(frozen=True)
class Result:
    name: str
    figures: list[Figure] = field(default_factory=list)


def figure(what: str, samples: list[float], most: float | None = None, least: float | None = None) -> Figure:
    value = statistics.median(samples)
    target = f"<= {most:g}" if most is not None else f">= {least:g}" if least is not None else ""
    met = value <= most if most is not None else value >= least if least is not None else None
    return Figure(what, value, min(samples), max(samples), target, met)


def alternate(rounds: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> list[tuple[Any, Any]]:
    samples = []
    for i in range(rounds):
        if i % 2 == 0:
            first = ours()
            samples.append((first, theirs()))
        else:
            second = theirs()
            samples.append((ours(), second))
    return samples


# --- rows ---


def uncontended(name: str, most: float) -> Row:
    def measure(rounds: int, seconds: float) -> list[Figure]:
        pairs = alternate(
            rounds,
            lambda: alone.uncontended(f"import fairlock; lock = fairlock.{name}()"),
            lambda: alone.uncontended(f"import threading; lock = threading.{name}()"),
        )
        return [figure("time / threading's", [a / b for a, b in pairs], most=most)]

    return Row(f"uncontended with {name}()", measure)


def contended(
    name: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    threads: int,
    *,
    body: str = "n += 1",
    hogs: int = 0,
    speed: float,
    fairness: float | None = None,
    longest: float | None = None,
) -> Row:
    beside = f", beside {hogs} hogs" if hogs else ""

    def measure(rounds: int, seconds: float) -> list[Figure]:
        with crew.hogs(hogs) if hogs else nullcontext():
            pairs = alternate(
                rounds,
                lambda: crew.contend(ours, body, threads, seconds),
                lambda: crew.contend(theirs, body, threads, seconds),
            )
        return [
            figure("speed / threading's", [a.speed / b.speed for a, b in pairs], least=speed),
            figure("slowest/fastest", [a.fairness for a, _ in pairs], least=fairness),
            figure("  threading's", [b.fairness for _, b in pairs]),
            figure("longest wait / threading's", [a.longest / b.longest for a, b in pairs], most=longest),
            figure("  ours, ms", [a.longest * 1000 for a, _ in pairs]),
        ]

    return Row(f"{name}, {threads} threads, {body}{beside}", measure)


def condition(most: float) -> Row:
    def measure(rounds: int, seconds: float) -> list[Figure]:
        pairs = alternate(
            rounds,
            lambda: alone.ping_pong(fairlock.Condition, seconds / 2),
            lambda: alone.ping_pong(threading.Condition, seconds / 2),
        )
        return [figure("time / threading's", [b / a for a, b in pairs], most=most)]

    return Row("Condition ping-pong", measure)


def reacquired(algorithm: str, most: int) -> Row:
    def measure(rounds: int, seconds: float) -> list[Figure]:
        counts = [float(alone.reacquisitions(lambda: fairlock.Lock(algorithm))) for _ in range(rounds)]
        return [figure("re-acquisitions before a waiter", [max(counts)], most=most)]

    return Row(f"Lock({algorithm!r}), holder that re-acquires at once", measure)


def memory() -> Row:
    def measure(rounds: int, seconds: float) -> list[Figure]:
        return [figure("bytes", [float(sys.getsizeof(fairlock.Lock()))], most=128)]

    return Row("memory of a Lock()", measure)


def semaphore() -> fairlock.Semaphore:
    return fairlock.Semaphore(1)


def strict_semaphore() -> fairlock.Semaphore:
    return fairlock.Semaphore(1, "twa-semaphore")


def threading_semaphore() -> threading.Semaphore:
    return threading.Semaphore(1)


def rows_for_this_python() -> list[Row]:
    """The rows, with their targets, that this Python is measured by."""
    rows = [
        uncontended("Lock", 0.65 if FREE_THREADED else 0.55 if VERSION <= (3, 11) else 0.6),
        uncontended("RLock", 0.6),
        uncontended("Semaphore", 0.1),
        uncontended("BoundedSemaphore", 0.1),
        condition(0.5 if FREE_THREADED else 0.9),
        memory(),
        reacquired("twa", 1),
        reacquired("fair", 4096),
    ]
    if not FREE_THREADED:
        # With a GIL the interpreter decides who runs, unless the work lets go of it.
        return [
            *rows,
            contended(
                "Semaphore(1)", semaphore, threading_semaphore, 8, body="crc32 of 16 KiB", speed=2.5, fairness=0.8
            ),
        ]
    lock, theirs = fairlock.Lock, threading.Lock
    return [
        *rows,
        *(
            contended("Lock()", lock, theirs, threads, speed=speed, fairness=0.85, longest=3)
            for threads, speed in ((2, 1.2), (8, 0.95), (32, 1.0))
        ),
        *(
            contended("Lock()", lock, theirs, threads, body="crc32 of 16 KiB", speed=speed, fairness=0.85)
            for threads, speed in ((8, 1.2), (32, 1.6))
        ),
        contended("Lock()", lock, theirs, 32, hogs=2, speed=1.1, fairness=0.7, longest=0.5),
        *(contended("Semaphore(1)", semaphore, threading_semaphore, n, speed=8, fairness=0.85) for n in (2, 8, 32)),
        *(
            contended("strict Semaphore(1)", strict_semaphore, threading_semaphore, threads, speed=speed)
            for threads, speed in ((2, 1.5), (8, 0.25), (32, 0.5))
        ),
        contended("strict Semaphore(1)", strict_semaphore, threading_semaphore, 32, hogs=2, speed=0.8),
    ]


# --- running and printing ---


def measure(rows: list[Row], rounds: int, seconds: float) -> list[Result]:
    """Measure the rows; Ctrl-C keeps what is done."""
    results = []
    for number, row in enumerate(rows, 1):
        print(f"[{number}/{len(rows)}] {row.name}", file=sys.stderr, flush=True)
        try:
            results.append(Result(row.name, row.measure(rounds, seconds)))
        except KeyboardInterrupt:
            print("interrupted: these rows are done", file=sys.stderr)
            break
    return results


def print_table(results: list[Result]) -> None:
    lines = []
    for result in results:
        for number, one in enumerate(result.figures):
            span = f"{one.low:.2f} to {one.high:.2f}" if one.high > one.low else ""
            verdict = "" if one.met is None else "met" if one.met else "MISSED"
            lines.append([result.name if number == 0 else "", one.what, f"{one.value:.2f}", span, one.target, verdict])
    header = ["what", "figure", "median", "range", "target", ""]
    print(table.render(header, lines, right=["median"]))
    targets = [one.met for result in results for one in result.figures if one.met is not None]
    kind = "free-threaded" if FREE_THREADED else "with a GIL"
    print(f"\nPython {sys.version.split()[0]}, {kind}: {sum(targets)} of {len(targets)} targets met.")


def as_json(results: list[Result], rounds: int, seconds: float) -> dict[str, object]:
    return {
        "machine": alone.machine(),
        "rounds": rounds,
        "seconds": seconds,
        "rows": [asdict(result) for result in results],
    }
