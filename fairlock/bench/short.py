"""The one table of ``fairlock bench short``: which lock to use here; and the papers' claims, as far as it shows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from fairlock import table
from fairlock.bench import claims, tables
from fairlock.bench.composites import TABLE_LOCKS
from fairlock.bench.figures import Figure, Table, calm
from fairlock.bench.measures import number
from fairlock.bench.results import Results

REFERENCE, FAIR_REFERENCE = "pthread-mutex", "pthread-mutex-pi"
MOST_DISTURBED = 0.5  # of the samples; with more, two threads that spin say nothing
EVEN = 0.8  # slowest/fastest from which we call a lock fair

# place, measure, one of which unit: what the columns show, by their heads
ALONE: dict[str, object] = {"workload": "uncontended"}
TWO: dict[str, object] = {"workload": "mutex", "config": "maximum", "threads": 2}
CROWD: dict[str, object] = {"workload": "oversubscribed", "threads": 32, "hogs": 0}
BESIDE_HOGS: dict[str, object] = {"workload": "oversubscribed", "threads": 32, "hogs": 2}
COLUMNS: dict[str, tuple[dict[str, object], str, float]] = {
    "alone, ns": (ALONE, "ns", 1),
    "2 threads, M/s": (TWO, "throughput", 1e6),
    "32 threads, k/s": (CROWD, "throughput", 1e3),
    "slow/fast": (CROWD, "fairness", 1),
    "wait, ms": (CROWD, "longest_wait", 1e-3),
    "busy: k/s": (BESIDE_HOGS, "throughput", 1e3),
    "slow/fast ": (BESIDE_HOGS, "fairness", 1),
    "wait, ms ": (BESIDE_HOGS, "longest_wait", 1e-3),
}
LEGEND = """\
alone: an acquire and its release. 2 threads: turns of both together, waiters spin. 32 threads: they spin, then sleep.
slow/fast: turns of the slowest thread to the fastest one's. wait: the longest. busy: beside 2 processes that burn CPU.\
"""


def print_short(results: Results) -> None:
    samples = Table(results)
    rows = [[lock, *(cell(samples, lock, *column) for column in COLUMNS.values())] for lock in TABLE_LOCKS]
    rows = [row for row in rows if any(row[1:])]
    print(f"\n{table.render(['lock', *COLUMNS], rows, right=COLUMNS)}\n\n{LEGEND}")
    if sentences := advice(samples):
        print("\n" + textwrap.fill(" ".join(sentences), 118, break_on_hyphens=False))
    print_claims([results])
    tables.print_notes(samples)


def cell(samples: Table, lock: str, place: dict[str, object], measure: str, unit: float) -> str:
    figure = look(samples, lock, place, measure)
    return number(figure.median / unit) if figure is not None else ""


def look(samples: Table, lock: str, place: dict[str, object], measure: str) -> Figure | None:
    found = samples.find(lock=lock, **place)
    return samples.figure(found[0], measure) if found else None


# --- advice ---


@dataclass(frozen=True)
class Crowded:
    """What a lock did with many threads: throughput to the reference's, and fairness, idle and busy."""

    lock: str
    fifo: bool
    speed: tuple[float, ...]
    fairness: tuple[float, ...]

    @property
    def rank(self) -> float:
        return min(self.speed)  # it has to be good in both


def crowded(samples: Table, reference: str) -> list[Crowded]:
    found = []
    orders = {subject["name"]: subject["order"] for subject in samples.results.subjects}
    for lock in TABLE_LOCKS:
        speed, fairness = [], []
        for place in (CROWD, BESIDE_HOGS):
            mine, theirs = samples.find(lock=lock, **place), samples.find(lock=reference, **place)
            ratio = samples.ratio(mine[0], theirs[0], "throughput") if mine and theirs else None
            even = look(samples, lock, place, "fairness")
            if ratio is not None and even is not None:
                speed.append(ratio.median)
                fairness.append(even.median)
        if len(speed) == 2:
            found.append(Crowded(lock, orders.get(lock) == "fifo", tuple(speed), tuple(fairness)))
    return found


def advice(samples: Table) -> list[str]:
    """Return sentences that say which lock to take here, from the numbers."""
    sentences = []
    locks = crowded(samples, REFERENCE)
    reference = next((one for one in locks if one.lock == REFERENCE), None)
    even = [one for one in locks if min(one.fairness) >= EVEN]
    if reference is not None:
        best = max(even or [reference], key=lambda one: one.rank)
        sentences.append(recommend(best, reference))
        sentences += strict_order(locks, best, samples)
    two = {
        lock: figure.median
        for lock in TABLE_LOCKS
        if (figure := look(samples, lock, TWO, "throughput")) is not None
        and any(one["name"] == lock and one["order"] == "fifo" for one in samples.results.subjects)
    }
    if disturbed(samples) > MOST_DISTURBED:
        return [*sentences, "But other work disturbed most samples: measure again when the machine is calm."]
    if two and samples.results.machine["cpus"] >= 2:
        quick = max(two, key=lambda lock: two[lock])
        sentences.append(f"With a processor for each thread, the fastest of those that keep the order is {quick}.")
    return sentences


def recommend(best: Crowded, reference: Crowded) -> str:
    share = f"the slowest thread gets {min(best.fairness):.2f} of the fastest one's turns"
    if best is reference:
        return f"Which one here: {best.lock}, as no other lock is fair with many threads; but there {share}."
    gain = f"{best.speed[0]:.1f} times the turns of a {REFERENCE} ({best.speed[1]:.1f} times on a busy machine)"
    theirs = f"{min(reference.fairness):.2f} there"
    return f"Which one here: {best.lock}. With many threads it has {gain}, and {share} ({theirs})."


def disturbed(samples: Table) -> float:
    """Return which share of the samples other work disturbed."""
    every = samples.results.samples
    return sum(not calm(sample) for sample in every) / len(every) if every else 0.0


def strict_order(locks: Sequence[Crowded], best: Crowded, samples: Table) -> list[str]:
    fifo = [one for one in crowded(samples, FAIR_REFERENCE) if one.fifo]
    if not fifo or best.fifo:
        return []
    order = max(fifo, key=lambda one: one.rank)
    cost = best.speed[0] / next(one.speed[0] for one in locks if one.lock == order.lock)
    gain = f"{order.speed[0]:.1f} times the turns of a {FAIR_REFERENCE}, the C library's only fair mutex"
    return [
        f"If order matters (always first come, first served): {order.lock}, with {gain};"
        f" but {best.lock} has {cost:.1f} times as many."
    ]


# --- claims ---


def print_claims(results: Sequence[Results]) -> None:
    """Print what was decided, and count what was not."""
    verdicts = claims.judge(results)
    shown = [one for one in verdicts if one.measured]
    if not shown:
        return
    print("\nWhat the papers report, and what was measured here\n")
    for one in shown:
        print(f"{one.verdict:18}  {one.papers_words_in_ours} ({one.paper})\n{'':20}{one.measured}")
        if one.verdict != claims.REPRODUCED:
            print(f"{'':20}{one.why}")
    few = sum(one.why.startswith("needs") for one in verdicts)
    rest = len(verdicts) - len(shown) - few
    cpus = results[0].machine["cpus"]
    print(f"\n{few} more claims are not decidable with {cpus} processors; {rest} are measured by other workloads.")
