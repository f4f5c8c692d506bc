# SPDX-License-Identifier: Apache-2.0
"""Which lock should I use here? A few sentences, which follow from the samples.

This is the only adviser: the table of ``fairlock bench short`` and the page of ``fairlock report`` print its sentences.
It looks at every place where several locks contended, idle or beside processes that burn CPU, and excludes a lock that

- starves threads: where the lock is saturated, its slowest thread gets less than EVEN of the fastest one's turns; or
- leaves processors idle: where threads also work outside the lock, its throughput is less than FAST of the reference's.

Among the others, the best lock is the one whose slowest thread gets most turns: that number is low if the lock is slow,
and low if it is unfair. The usual lock wins a tie.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairlock_lab.benchmarks.compare_program import WORKLOAD as WHOLE_PROGRAM
from fairlock_lab.benchmarks.figures import calm, value_of
from fairlock_lab.benchmarks.lock_sets import PEERS
from fairlock_lab.benchmarks.programs import FAMILIES as PROGRAMS
from fairlock_lab.benchmarks.results import Sample
from fairlock_lab.reports.contest import contest, leading, rank, usual_lock
from fairlock_lab.reports.data import NON_COMPETITORS, Group
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.words import listed, times

EVEN = 0.8  # slowest thread's turns divided by the fastest one's
FAST = 0.8  # throughput divided by the reference's
WORK_OUTSIDE = 20  # steps outside the lock; less work takes no longer than a hand-over
FAIR_REFERENCE = "pthread-mutex-pi"

NOT_RELIABLE = "Do not rely on this: other work disturbed most of the samples. Measure again on an idle machine."
NO_ADVICE = "These results do not say which lock to use: no two locks contended for turns."


@dataclass(frozen=True)
class Advice:
    kind: str  # of lock
    text: str  # with the advised lock between ** and **
    where: str  # the places and numbers of threads that were measured
    disturbed: bool  # other work disturbed most of the samples


@dataclass(frozen=True)
class Place:
    """A group of points, at one number of threads."""

    group: Group
    threads: int

    @property
    def work_outside(self) -> bool:
        """Whether threads do at least as much work outside the lock as inside. Other places saturate the lock."""
        options = self.group.options
        inside, outside = (
            int(options.get(native) or options.get(python) or 0)
            for native, python in (("critical", "inside"), ("non-critical", "outside"))
        )
        return self.group.family in PROGRAMS or outside >= max(inside, WORK_OUTSIDE)

    def candidates(self, kind: str) -> dict[str, int]:
        """Return the points of the locks that a program could choose, by label.

        These are not locks of other libraries, controls, small arrays, or locks that are measured under two names.
        """
        points = self.group.points
        return {
            self.group.labels[i]: i
            for i in self.group.at(self.threads)
            if self.group.kind(i) == kind
            and points[i].lock not in (*NON_COMPETITORS, *PEERS)
            and "/" not in points[i].lock
            and not points[i].lock.startswith(("semaphore-around", "ck-", "std-"))
            and points[i].form in ("guard", None)
        }

    def speed(self, kind: str, label: str, reference: str | None) -> float | None:
        """Return a lock's throughput divided by that of the reference; without a reference, by the best one's."""
        numbers = self.candidates(kind)
        if label not in numbers:
            return None
        if reference is not None:
            if reference not in numbers:
                return None
            ratio = self.group.source.table.ratio(numbers[label], numbers[reference], "throughput")
            return ratio.median if ratio is not None else None
        figures = {name: self.group.figure(i, "throughput") for name, i in numbers.items()}
        best = max((figure.median for figure in figures.values() if figure is not None), default=0.0)
        figure = figures[label]
        return figure.median / best if figure is not None and best else None

    def fairness(self, kind: str, label: str) -> float | None:
        number = self.candidates(kind).get(label)
        figure = self.group.figure(number, "fairness") if number is not None else None
        return figure.median if figure is not None else None


@dataclass(frozen=True)
class Score:
    """How a lock did: by run, as geometric means of its shares of the best median of each place; and its weaknesses."""

    slowest: Mapping[int, float]  # turns of the slowest thread; empty: it got none in one of the runs
    throughput: Mapping[int, float]
    fairness: float  # the lowest median, where the lock is saturated
    saturated: Sequence[float]  # speeds where the lock is saturated
    outside: Sequence[float]  # speeds where threads also work outside

    @property
    def good(self) -> bool:
        """Whether the lock neither starves threads nor leaves processors idle."""
        return self.fairness >= EVEN and min(self.outside, default=1.0) >= FAST

    @property
    def worst_speed(self) -> float:
        return min([*self.saturated, *self.outside], default=0.0)


@dataclass(frozen=True)
class Field:
    """The locks of one kind that contended in the same places."""

    kind: str
    places: Sequence[Place]  # where all of them were measured
    others: Sequence[Place]  # where some of them were measured too: a weakness there counts
    scores: Mapping[str, Score]
    usual: str | None

    def order(self, label: str) -> str | None:
        """Return the order of admission of a lock."""
        group = self.places[0].group
        lock = group.points[self.places[0].candidates(self.kind)[label]].lock
        subjects = group.source.results.subjects
        return next((subject.get("order") for subject in subjects if subject.get("name") == lock), None)


def advice(groups: Sequence[Group]) -> Iterator[Advice]:
    """Yield which lock to use: with a processor for each thread, and with fewer."""
    for kind in dict.fromkeys(kind for group in groups for kind in group.kinds):
        for crowded in (False, True):
            field = field_of(groups, kind, crowded=crowded)
            if field is not None and len(field.scores) > 1:
                where = "with more threads than CPUs" if crowded else "with a CPU for each thread"
                where = f"{where[0].upper()}{where[1:]}" if kind == "lock" else f"As a {kind}, {where}"
                yield Advice(kind, recommendation(field, where), measured_in(field.places), disturbed(field.places))
    for group in groups:
        if group.workload == WHOLE_PROGRAM:
            yield from advice_for_program(group)


def measured_in(places: Sequence[Place]) -> str:
    names = list(dict.fromkeys(place.group.title for place in places))
    counts = sorted({place.threads for place in places})
    return f"{listed(names)}, {listed([str(n) for n in counts])} threads"


def advice_for_program(group: Group) -> Iterator[Advice]:
    """Yield which lock a program should use, if it ran with several."""
    (threads,) = group.threads
    result = contest(group, threads)
    if result is None or not result.ahead:
        return
    usual = usual_lock([result.best, *result.ahead])
    better = "that" if MEASURES[result.measure].better == "more" else "as fast as"
    if usual is not None and (usual == result.best or usual in result.tied):
        text = f"For {group.config}, **{usual}** is as good as any"
        rivals = [label for label in [result.best, *result.tied] if label != usual]
    else:
        text = f"For {group.config}, use **{result.best}**"
        text += f": {times(result.ahead[usual])} {better} under {usual}" if usual is not None else ""
        rivals = result.tied
    text += f" ({listed(rivals)}: too close to call)" if rivals else ""
    text += "." if result.decided else ". There were too few runs to be sure."
    yield Advice("lock", text, group.title, disturbed([Place(group, threads)]))


# --- the places ---


def places_of(groups: Sequence[Group], kind: str, *, crowded: bool) -> list[Place]:
    """Return the places where several threads contended for one lock, and the number of turns is what counts."""
    return [
        place
        for group in groups
        if leading(group) == "throughput" and group.has("fairness")
        for threads in group.threads
        if threads > 1 and group.oversubscribed(threads) is crowded
        if len((place := Place(group, threads)).candidates(kind)) > 1
    ]


def field_of(groups: Sequence[Group], kind: str, *, crowded: bool) -> Field | None:
    """Return the locks to compare, and where they were measured."""
    regime = places_of(groups, kind, crowded=crowded)
    places = comparable_places(regime, kind)
    if not places:
        return None
    others = [place for place in regime if place not in places]
    if crowded:  # a program with many threads may at times have few that run
        others += [place for place in places_of(groups, kind, crowded=False) if place.work_outside]
    labels = list(places[0].candidates(kind))
    usual = usual_lock(labels)
    slowest = shares(places, kind, slowest_of)
    throughput = shares(places, kind, lambda sample: value_of(sample.metrics, "throughput"))

    def speeds(label: str, *, outside: bool) -> list[float]:
        chosen = [
            place for place in (*places, *others) if place.work_outside is outside and (outside or place in places)
        ]
        return [value for place in chosen if (value := place.speed(kind, label, usual)) is not None]

    def fairness(label: str) -> float:
        crowd = [place for place in (*places, *others) if place.group.oversubscribed(place.threads) is crowded]
        saturated = [place for place in crowd if not place.work_outside and label in place.candidates(kind)] or crowd
        return min((value for place in saturated if (value := place.fairness(kind, label)) is not None), default=1.0)

    scores = {
        label: Score(
            slowest.get(label, {}),
            throughput.get(label, {}),
            fairness(label),
            speeds(label, outside=False),
            speeds(label, outside=True),
        )
        for label in labels
    }
    return Field(kind, places, others, scores, usual)


def comparable_places(places: Sequence[Place], kind: str) -> list[Place]:
    """Return the places where the same locks were measured: where most of them were, and where waiters can sleep."""
    entrants: dict[frozenset[str], list[Place]] = {}
    for place in places:
        entrants.setdefault(frozenset(place.candidates(kind)), []).append(place)

    def worth(labels: frozenset[str]) -> tuple[bool, int, int]:
        first = entrants[labels][0]
        sleeps = first.group.oversubscribed(first.threads) and any("park" in policy for policy in first.group.waiting)
        return sleeps, sum(not label.startswith("capacitor") for label in labels), len(entrants[labels])

    return entrants[max(entrants, key=worth)] if entrants else []


def disturbed(places: Sequence[Place]) -> bool:
    """Whether other work disturbed most of the samples."""
    numbers = [(place.group, i) for place in places for i in place.group.at(place.threads)]
    samples = [sample for group, i in numbers for sample in group.source.table.samples(i)]
    return sum(not calm(sample) for sample in samples) > len(samples) / 2


def slowest_of(sample: Sample) -> float | None:
    """Return the turns per second of the slowest thread, or of all threads if they were not counted one by one."""
    counts, elapsed = sample.metrics.get("counts"), sample.metrics.get("elapsed")
    return min(counts) / elapsed if counts and elapsed else value_of(sample.metrics, "throughput")


def shares(places: Sequence[Place], kind: str, of: Callable[[Sample], float | None]) -> dict[str, dict[int, float]]:
    """Return, by label and run, the geometric mean of a lock's shares of the best median of each place."""
    logs: dict[str, dict[int, list[float]]] = {}
    for place in places:
        values = {
            label: {sample.run: value for sample in place.group.trusted(i) if (value := of(sample)) is not None}
            for label, i in place.candidates(kind).items()
        }
        best = max((statistics.median(runs.values()) for runs in values.values() if runs), default=1.0)
        for label, runs in values.items():
            by_run = logs.setdefault(label, {})
            if (
                min(runs.values(), default=0) <= 0
            ):  # to leave out only these runs would favour a lock that starves threads
                continue
            for run, value in runs.items():
                by_run.setdefault(run, []).append(math.log(value / best))
    return {
        label: {run: math.exp(statistics.fmean(logs)) for run, logs in runs.items() if len(logs) == len(places)}
        for label, runs in logs.items()
    }


# --- the sentences ---


def recommendation(field: Field, where: str) -> str:
    """Return which lock to use, why, and at what price."""
    scores, usual = field.scores, field.usual
    if all(not score.slowest and min(score.throughput.values(), default=0) > 0 for score in scores.values()):
        fastest = rank({label: score.throughput for label, score in scores.items()}, "throughput")
        text = f"{where}, every lock left a thread without a turn"
        return text + (f"; **{fastest.best}** had the most turns in all." if fastest is not None else ".")
    good = {label: score for label, score in scores.items() if score.good}
    if not good:
        return nothing_good(field, where)
    ranked = rank({label: score.slowest for label, score in good.items()}, "throughput")
    if ranked is None:  # no run has all places
        best, rivals = max(good, key=lambda label: good[label].worst_speed), []
    else:
        keep = usual is not None and (usual == ranked.best or usual in ranked.tied)
        best = usual if keep and usual is not None else ranked.best
        rivals = [label for label in [ranked.best, *ranked.tied] if label != best]
    text = f"{where}, use **{best}**" if best != usual else f"{where}, **{best}** is as good as any"
    if rivals:
        text += f" ({listed(rivals, 'or') if best != usual else listed(rivals)}: too close to call)"
    text += f": its slowest thread got {slowest_words(field, best)}"
    if usual is not None and best != usual:
        text += total_words(field, best)
    text += "."
    if usual is not None and best != usual and scores[best].outside:
        text += f" With work outside the lock, it has at least {min(scores[best].outside):.2f} times the throughput."
    pair = rank({label: scores[label].slowest for label in (best, usual) if label is not None}, "throughput")
    if ranked is None or not ranked.decided or (pair is not None and not pair.decided):
        text += " There were too few runs to be sure."
    return text + tempting(field, best) + strict_order(field, best)


def nothing_good(field: Field, where: str) -> str:
    """Return what to use if every lock is unfair, or slow with work outside."""
    scores, usual = field.scores, field.usual
    ranked = rank({label: score.slowest for label, score in scores.items()}, "throughput")
    best = usual or (ranked.best if ranked is not None else max(scores, key=lambda label: scores[label].worst_speed))
    score = scores[best]
    standard = "both fair and fast enough with work outside the lock" if score.outside else "fair"
    text = f"{where}, use **{best}**: no {'other ' if usual else ''}lock is {standard}. "
    text += f"But its slowest thread got only {score.fairness:.2f} of the fastest one's turns."
    fair = [label for label, other in scores.items() if other.fairness >= EVEN and other.outside]
    if fair:
        fairest = max(fair, key=lambda label: scores[label].worst_speed)
        speeds = f"{min(scores[fairest].outside):.2f} times with work outside"
        if scores[fairest].saturated:
            speeds = f"{min(scores[fairest].saturated):.2f} times where the lock is saturated, but {speeds}"
        text += f" The best fair lock is {fairest}: it has the throughput of {usual or 'the fastest lock'} {speeds}."
    return text + strict_order(field, best)


def slowest_words(field: Field, best: str) -> str:
    scores, usual = field.scores, field.usual
    share = f"{scores[best].fairness:.2f} of the fastest one's turns"
    if usual is None or best == usual:
        return share
    pair = rank({label: scores[label].slowest for label in (best, usual)}, "throughput")
    if not scores[usual].slowest and min(scores[usual].throughput.values(), default=0) > 0:
        return f"{share}, while under {usual} some threads got none"
    if pair is None or usual not in pair.ahead:  # the two have no run in common
        return share
    return f"{times(pair.ahead[usual])} the turns that it gets under {usual}"


def total_words(field: Field, best: str) -> str:
    assert field.usual is not None
    pair = rank({label: field.scores[label].throughput for label in (best, field.usual)}, "throughput")
    if pair is None or not pair.ahead:  # the two have no run in common
        return ""
    ahead = times(next(iter(pair.ahead.values())))
    return f", and {'' if pair.best == best else f'under {field.usual} '}all threads together got {ahead} as many"


def tempting(field: Field, best: str) -> str:
    """Return why a lock with more throughput is not the best."""
    scores = field.scores
    overall = rank({label: score.throughput for label, score in scores.items()}, "throughput")
    if overall is None or best not in overall.ahead or not overall.ahead[best].above(1):
        return ""
    score = scores[overall.best]
    more = f" {overall.best} had {times(overall.ahead[best])} the throughput of {best}, but "
    if score.fairness < EVEN:
        return more + f"its slowest thread got only {score.fairness:.2f} of the fastest one's turns."
    if min(score.outside, default=1.0) < FAST:
        return (
            more + f"only {min(score.outside):.2f} times that of {field.usual or 'the fastest lock'} with work outside."
        )
    return ""


def strict_order(field: Field, best: str) -> str:
    """Return the best lock that keeps the order of arrival, with its price, if ``best`` does not keep it."""
    ordered = [label for label in field.scores if field.order(label) == "fifo"]
    if not ordered or best in ordered:
        return ""
    first = max(ordered, key=lambda label: field.scores[label].worst_speed)
    saturated = [place for place in field.places if not place.work_outside] or list(field.places)
    outside = [place for place in (*field.places, *field.others) if place.work_outside]

    def speeds(label: str, reference: str, places: Sequence[Place]) -> list[float]:
        return [value for place in places if (value := place.speed(field.kind, label, reference)) is not None]

    text = f" If strict order matters (first come, first served), use {first}"
    if gain := speeds(first, FAIR_REFERENCE, saturated):
        text += (
            f", which has {min(gain):.2f} times the throughput of a {FAIR_REFERENCE}, the C library's only fair mutex"
        )
    if price := speeds(best, first, saturated):
        text += f"; but {best} has {max(price):.2f} times its throughput"
        if beside := speeds(best, first, outside):
            text += f", and up to {max(beside):.2f} times with work outside"
    return f"{text}."
