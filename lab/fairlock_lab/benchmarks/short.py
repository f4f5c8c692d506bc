# SPDX-License-Identifier: Apache-2.0
"""The one table of ``fairlock bench short``: which lock to use here; and the papers' claims, as far as it shows."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from fairlock import table
from fairlock_lab.benchmarks import claims, tables
from fairlock_lab.benchmarks.composites import TABLE_LOCKS
from fairlock_lab.benchmarks.figures import Figure, Table, calm
from fairlock_lab.benchmarks.measures import number
from fairlock_lab.benchmarks.results import Results
from fairlock_lab.benchmarks.workloads import NO_LOCK

REFERENCE, FAIR_REFERENCE = "pthread-mutex", "pthread-mutex-pi"
MOST_DISTURBED = 0.5  # of the samples; with more, two threads that spin say nothing
EVEN = 0.8  # slowest/fastest from which we call a lock fair

AS_FAST = 0.8  # of the reference's throughput with work outside; with less, processors stand idle

ALONE: dict[str, object] = {"workload": "uncontended"}
PAIR: dict[str, object] = {"workload": "outside", "config": "pair-100-100"}
WORKING_CROWD: dict[str, object] = {"workload": "outside", "config": "crowd-20-1000"}
CROWD: dict[str, object] = {"workload": "oversubscribed", "threads": 32, "hogs": 0}
BESIDE_HOGS: dict[str, object] = {"workload": "oversubscribed", "threads": 32, "hogs": 2}
OUTSIDE, SATURATED = (PAIR, WORKING_CROWD), (CROWD, BESIDE_HOGS)

# Each place with its columns: head, measure, unit. No unit: as a multiple of the reference's.
COLUMNS: tuple[tuple[dict[str, object], tuple[tuple[str, str, float | None], ...]], ...] = (
    (ALONE, (("ns", "ns", 1),)),
    (PAIR, (("speed", "throughput", None), ("CPUs", "processors", 1))),
    (WORKING_CROWD, (("speed", "throughput", None), ("slow/fast", "fairness", 1), ("CPUs", "processors", 1))),
    *(
        (place, (("speed", "throughput", None), ("slow/fast", "fairness", 1), ("wait", "longest_wait", 1e-3)))
        for place in SATURATED
    ),
)
LEGEND = (
    "alone: an acquire and its release. 100+100: about 100 ns of work inside and 100 outside. busy: beside 2 processes "
    f"that burn CPU. speed: turns divided by those of a {REFERENCE}. slow/fast: turns of the slowest thread divided by "
    f"those of the fastest. CPUs: processors kept busy. wait: the longest, in ms. {NO_LOCK}: the same work without a "
    "lock, which is the limit."
)
WIDTH = 118


def print_short(results: Results) -> None:
    samples = Table(results)
    columns = [(place, measure, unit) for place, some in COLUMNS for _, measure, unit in some]
    rows = [[lock, *(cell(samples, lock, *column) for column in columns)] for lock in TABLE_LOCKS]
    rows = [row for row in rows if any(row[1:])]
    heads = [head for _, some in COLUMNS for head, _, _ in some]
    groups = [("", 1), *((title(samples, place), len(some)) for place, some in COLUMNS)]
    print(f"\n{table.render(['lock', *heads], rows, right=heads, groups=groups)}\n\n{filled(LEGEND)}")
    if sentences := advice(samples):
        print("\n" + filled(" ".join(sentences)))
    print_claims([results])
    tables.print_notes(samples)


def filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def title(samples: Table, place: dict[str, object]) -> str:
    """Return how many threads a place has, and their work inside and outside."""
    found = samples.find(**place)
    if not found or place is ALONE:
        return "alone" if found else ""
    if place is BESIDE_HOGS:
        return "the same, busy"
    point = samples.points[found[0]]
    return f"{tables.threads(point.threads)}, {point.options.get('critical')}+{point.options.get('non-critical')}"


def cell(samples: Table, lock: str, place: dict[str, object], measure: str, unit: float | None) -> str:
    if unit is None:
        ratio = times(samples, lock, REFERENCE, place)
        return f"{ratio.median:.2f}" if ratio is not None else ""
    figure = look(samples, lock, place, measure)
    return number(figure.median / unit) if figure is not None else ""


def look(samples: Table, lock: str, place: dict[str, object], measure: str) -> Figure | None:
    found = samples.find(lock=lock, **place)
    return samples.figure(found[0], measure) if found else None


def times(samples: Table, lock: str, reference: str, place: dict[str, object]) -> Figure | None:
    """Return a lock's throughput divided by the reference's."""
    mine, theirs = samples.find(lock=lock, **place), samples.find(lock=reference, **place)
    return samples.ratio(mine[0], theirs[0], "throughput") if mine and theirs else None


# --- advice ---


@dataclass(frozen=True)
class Standing:
    """What a lock did: throughput divided by the reference's, saturated and with work outside, and fairness."""

    lock: str
    fifo: bool
    saturated: tuple[float, ...]  # idle, busy
    outside: tuple[float, ...]  # a pair, a crowd; empty, if that was not measured
    fairness: tuple[float, ...]  # where saturated

    @property
    def rank(self) -> float:
        return min(*self.saturated, *self.outside)  # it has to be good in all

    @property
    def even(self) -> bool:
        return min(self.fairness) >= EVEN

    @property
    def good(self) -> bool:
        """Whether it starves no thread, and leaves no processor idle while there is work."""
        return self.even and min(self.outside, default=1.0) >= AS_FAST


def standings(samples: Table, reference: str) -> list[Standing]:
    found = []
    orders = {subject["name"]: subject["order"] for subject in samples.results.subjects}
    outside = [place for place in OUTSIDE if samples.find(lock=reference, **place)]
    for lock in TABLE_LOCKS:
        if lock == NO_LOCK:
            continue
        crowded, beside_work = (
            [one.median for place in places if (one := times(samples, lock, reference, place)) is not None]
            for places in (SATURATED, outside)
        )
        even = [one.median for place in SATURATED if (one := look(samples, lock, place, "fairness")) is not None]
        if len(crowded) == len(even) == len(SATURATED) and len(beside_work) == len(outside):
            found.append(Standing(lock, orders.get(lock) == "fifo", tuple(crowded), tuple(beside_work), tuple(even)))
    return found


def advice(samples: Table) -> list[str]:
    """Return sentences that say which lock to take here, from the numbers."""
    sentences = []
    locks = standings(samples, REFERENCE)
    reference = next((one for one in locks if one.lock == REFERENCE), None)
    if reference is not None:
        best = max([one for one in locks if one.good] or [reference], key=lambda one: one.rank)
        sentences.append(recommend(best, reference))
        if not best.good:
            sentences += fairest(locks)
        sentences += strict_order(locks, best, samples)
    two = {
        lock: figure.median
        for lock in TABLE_LOCKS
        if (figure := look(samples, lock, PAIR, "throughput")) is not None
        and any(one["name"] == lock and one["order"] == "fifo" for one in samples.results.subjects)
    }
    if disturbed(samples) > MOST_DISTURBED:
        return [*sentences, "But other work disturbed most samples: measure again when the machine is calm."]
    if two and samples.results.machine["cpus"] >= 2:
        quick = max(two, key=lambda lock: two[lock])
        sentences.append(f"With a processor for each thread, the fastest of those that keep the order is {quick}.")
    return sentences


def recommend(best: Standing, reference: Standing) -> str:
    share = f"the slowest thread gets {min(best.fairness):.2f} of the fastest one's turns"
    if best is reference:
        why = "no other lock is fair with many threads and fast enough with work outside"
        return f"Which one here: {best.lock}, as {why}; but with many threads {share}."
    gain = f"{best.saturated[0]:.1f} times the turns of a {REFERENCE} ({best.saturated[1]:.1f} times on a busy machine)"
    theirs = f"{min(reference.fairness):.2f} there"
    with_work = f" With work outside it has at least {min(best.outside):.2f} times the turns." if best.outside else ""
    return f"Which one here: {best.lock}. With many threads it has {gain}, and {share} ({theirs}).{with_work}"


def fairest(locks: Sequence[Standing]) -> list[str]:
    """Return a sentence about the best of the fair locks, for when none is good."""
    even = [one for one in locks if one.even and one.outside]
    if not even:
        return []
    best = max(even, key=lambda one: one.rank)
    many = f"{best.saturated[0]:.1f} times the turns of a {REFERENCE} with many threads"
    return [f"The best fair lock is {best.lock}: {many}, but {min(best.outside):.2f} times with work outside."]


def disturbed(samples: Table) -> float:
    """Return which share of the samples other work disturbed."""
    every = samples.results.samples
    return sum(not calm(sample) for sample in every) / len(every) if every else 0.0


def strict_order(locks: Sequence[Standing], best: Standing, samples: Table) -> list[str]:
    fifo = [one for one in standings(samples, FAIR_REFERENCE) if one.fifo]
    if not fifo or best.fifo:
        return []
    order = max(fifo, key=lambda one: one.rank)
    same = next(one for one in locks if one.lock == order.lock)
    cost = f"{best.saturated[0] / same.saturated[0]:.1f} times as many"
    if best.outside:
        most = max(mine / theirs for mine, theirs in zip(best.outside, same.outside, strict=True))
        cost += f", and up to {most:.1f} times with work outside"
    gain = f"{order.saturated[0]:.1f} times the turns of a {FAIR_REFERENCE}, the C library's only fair mutex"
    return [
        f"If order matters (always first come, first served): {order.lock}, with {gain}; but {best.lock} has {cost}."
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
