# SPDX-License-Identifier: Apache-2.0
"""Which lock should I use here? A few sentences, from what was measured.

A lock is judged by the turns of its slowest thread: that is low if the lock is slow, and low if it starves somebody.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairlock_lab.benchmarks.compare_program import WORKLOAD as WHOLE_PROGRAM
from fairlock_lab.benchmarks.figures import calm, value_of
from fairlock_lab.benchmarks.results import Sample
from fairlock_lab.benchmarks.workloads import PEERS
from fairlock_lab.reports.contest import contest, leading, rank, reference
from fairlock_lab.reports.data import NON_COMPETITORS, Group
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.words import listed, times

SLEEPING = {"park", "spin-then-park"}
UNEVEN = 0.5  # slowest thread / fastest, below which a lock is called unfair

Place = tuple[Group, int]  # a group, at a number of threads


@dataclass(frozen=True)
class Advice:
    kind: str  # of lock
    text: str
    where: str  # it was measured
    disturbed: bool  # most of its samples


@dataclass(frozen=True)
class Score:
    """How a lock did over several places, by run: geometric means of its shares of the best median of each place."""

    slowest: Mapping[int, float]  # turns of the slowest thread; nothing, if it got none in one of the runs
    throughput: Mapping[int, float]
    fairness: float  # the worst of the medians


def advice(groups: Sequence[Group]) -> Iterator[Advice]:
    """Yield which lock to take: with a processor for each thread, and with fewer."""
    for kind in dict.fromkeys(kind for group in groups for kind in group.kinds):
        for crowded in (False, True):
            places = field(places_of(groups, kind, crowded=crowded), kind)
            found = scores(places, kind)
            if len(found) > 1:
                where = "with more threads than CPUs" if crowded else "with a CPU for each thread"
                where = f"{where[0].upper()}{where[1:]}" if kind == "lock" else f"As a {kind}, {where}"
                names = list(dict.fromkeys(group.title for group, _ in places))
                counts = sorted({threads for _, threads in places})
                measured = f"{listed(names)}, {listed([str(n) for n in counts])} threads"
                yield Advice(kind, take(found, where), measured, disturbed(places))
    for group in groups:
        if group.workload == WHOLE_PROGRAM:
            yield from of_a_program(group)


def of_a_program(group: Group) -> Iterator[Advice]:
    """Yield which lock one program should have, if it was run with several."""
    (threads,) = group.threads
    found = contest(group, threads)
    if found is None or not found.ahead:
        return
    usual = reference([found.best, *found.ahead])
    better = "that" if MEASURES[found.measure].better == "more" else "as fast as"
    if usual is not None and (usual == found.best or usual in found.tied):
        text = f"For {group.config}, **{usual}** is as good as any"
        rivals = [label for label in [found.best, *found.tied] if label != usual]
    else:
        text = f"For {group.config}, take **{found.best}**"
        text += f": {times(found.ahead[usual])} {better} under {usual}" if usual is not None else ""
        rivals = found.tied
    text += f" ({listed(rivals)}: too close to call)" if rivals else ""
    text += "." if found.decided else ". There were too few runs to be sure."
    yield Advice("lock", text, group.title, disturbed([(group, threads)]))


# --- where to look ---


def places_of(groups: Sequence[Group], kind: str, *, crowded: bool) -> list[Place]:
    """Return where several threads wanted one lock, and what counts is how often they got it."""
    return [
        (group, threads)
        for group in groups
        if leading(group) == "throughput" and group.has("fairness")
        for threads in group.threads
        if threads > 1 and group.oversubscribed(threads) is crowded
        if sum(candidate(group, i, kind) for i in group.at(threads)) > 1
    ]


def candidate(group: Group, number: int, kind: str) -> bool:
    """Whether a program could choose this lock: not another library's, a control, a small array, or a second name."""
    lock = group.points[number].lock
    strange = lock in (*NON_COMPETITORS, *PEERS) or "/" in lock or lock.startswith(("semaphore-around", "ck-", "std-"))
    return group.kind(number) == kind and not strange and group.points[number].form in ("guard", None)


def field(places: Sequence[Place], kind: str) -> list[Place]:
    """Return the places where the same locks took part, the most that did; sleepers first, where threads must sleep."""
    entrants: dict[frozenset[str], list[Place]] = {}
    for group, threads in places:
        labels = frozenset(group.labels[i] for i in group.at(threads) if candidate(group, i, kind))
        entrants.setdefault(labels, []).append((group, threads))

    def worth(labels: frozenset[str]) -> tuple[bool, int, int]:
        group, threads = entrants[labels][0]
        sleeps = group.oversubscribed(threads) and bool(SLEEPING.intersection(group.waiting))
        return sleeps, sum(not label.startswith("capacitor") for label in labels), len(entrants[labels])

    return entrants[max(entrants, key=worth)] if entrants else []


def disturbed(places: Sequence[Place]) -> bool:
    numbers = [(group, i) for group, threads in places for i in group.at(threads)]
    samples = [sample for group, i in numbers for sample in group.source.table.samples(i)]
    return sum(not calm(sample) for sample in samples) > len(samples) / 2


# --- how the locks did ---


def scores(places: Sequence[Place], kind: str) -> dict[str, Score]:
    slowest = shares(places, kind, slowest_of)
    throughput = shares(places, kind, lambda sample: value_of(sample.metrics, "throughput"))
    fairness: dict[str, float] = {}
    for group, threads in places:
        for i in group.at(threads):
            figure = group.figure(i, "fairness")
            label = group.labels[i]
            fairness[label] = min(figure.median if figure else 1.0, fairness.get(label, 1.0))
    return {label: Score(slowest[label], throughput[label], fairness[label]) for label in throughput}


def slowest_of(sample: Sample) -> float | None:
    """Return the turns a second of the thread that got fewest."""
    counts, elapsed = sample.metrics.get("counts"), sample.metrics.get("elapsed")
    return min(counts) / elapsed if counts and elapsed else None


def shares(places: Sequence[Place], kind: str, of: Callable[[Sample], float | None]) -> dict[str, dict[int, float]]:
    logs: dict[str, dict[int, list[float]]] = {}
    for group, threads in places:
        found = {
            group.labels[i]: {sample.run: value for sample in group.trusted(i) if (value := of(sample)) is not None}
            for i in group.at(threads)
            if candidate(group, i, kind)
        }
        best = max((statistics.median(runs.values()) for runs in found.values() if runs), default=1.0)
        for label, runs in found.items():
            mine = logs.setdefault(label, {})
            if min(runs.values(), default=0) <= 0:  # without these runs, who starves threads would look good
                continue
            for run, value in runs.items():
                mine.setdefault(run, []).append(math.log(value / best))
    return {
        label: {run: math.exp(statistics.fmean(one)) for run, one in runs.items() if len(one) == len(places)}
        for label, runs in logs.items()
    }


# --- words ---


def take(found: Mapping[str, Score], where: str) -> str:
    """Return the lock whose slowest thread got most; the usual one, if nothing is clearly better."""
    ranked = rank({label: score.slowest for label, score in found.items()}, "throughput")
    if ranked is None:
        fastest = rank({label: score.throughput for label, score in found.items()}, "throughput")
        text = f"{where}, every lock left a thread without a turn"
        return text + (f"; **{fastest.best}** had the most in all." if fastest is not None else ".")
    usual = reference(found)
    best = usual if usual is not None and (usual == ranked.best or usual in ranked.tied) else ranked.best
    rivals = [label for label in [ranked.best, *ranked.tied] if label != best]
    text = f"{where}, take **{best}**" if best != usual else f"{where}, **{best}** is as good as any"
    if rivals:
        text += f" ({listed(rivals, 'or') if best != usual else listed(rivals)}: too close to call)"
    text += ": its slowest thread got " + slowest_words(found, best, usual)
    if usual is not None and best != usual:
        text += together(found, best, usual)
    text += "."
    if not ranked.decided:
        text += " There were too few runs to be sure."
    return text + tempting(found, best)


def slowest_words(found: Mapping[str, Score], best: str, usual: str | None) -> str:
    share = f"{found[best].fairness:.2f} of the fastest one's turns"
    if usual is None or best == usual:
        return share
    pair = rank({label: found[label].slowest for label in (best, usual)}, "throughput")
    if not found[usual].slowest:
        return f"{share}, where under {usual} some got none"
    if pair is None or usual not in pair.ahead:  # no run that counts of both
        return share
    return f"{times(pair.ahead[usual])} the turns that it gets under {usual}"


def together(found: Mapping[str, Score], best: str, usual: str) -> str:
    pair = rank({label: found[label].throughput for label in (best, usual)}, "throughput")
    if pair is None or not pair.ahead:  # no run that counts of both
        return ""
    ahead = times(next(iter(pair.ahead.values())))
    return f", and {'' if pair.best == best else f'under {usual} '}all together got {ahead} as many"


def tempting(found: Mapping[str, Score], best: str) -> str:
    """Return what was faster in all, but unfair."""
    overall = rank({label: score.throughput for label, score in found.items()}, "throughput")
    if overall is None or best not in overall.ahead or not overall.ahead[best].above(1):
        return ""
    fairness = found[overall.best].fairness
    if fairness >= UNEVEN:
        return ""
    more = f"{times(overall.ahead[best])} the throughput of {best}"
    return f" {overall.best} had {more}, but its slowest thread got only {fairness:.2f} of the fastest one's turns."
