# SPDX-License-Identifier: Apache-2.0
"""Which lock should I use here? A few sentences, which follow from the samples.

The table of ``fairlock bench short`` and the page of ``fairlock report`` print the sentences of this module. It judges
every place where several locks contended, idle or beside processes that burn CPU, and excludes a lock that

- starves threads: where the lock is saturated, its slowest thread gets less than EVEN of the fastest one's turns; or
- leaves processors idle: where threads also work outside the lock, its throughput is less than FAST of the reference's.

Of the remaining locks, the best is the lock whose slowest thread gets the most turns: this number is low if the lock is
slow, and also if it is unfair. The usual lock wins a tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairlock_lab.benchmarks.compare_program import WORKLOAD as WHOLE_PROGRAM
from fairlock_lab.reports.contest import contest, rank, usual_lock
from fairlock_lab.reports.data import Group
from fairlock_lab.reports.field import EVEN, FAST, Field, Place, disturbed, field_of
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.words import listed, times

FAIR_REFERENCE = "pthread-mutex-pi"

NOT_RELIABLE = "Do not rely on this: other work disturbed most of the samples. Measure again on an idle machine."
NO_ADVICE = "These results do not say which lock to use: no two locks contended for turns."


@dataclass(frozen=True)
class Advice:
    kind: str  # of lock
    text: str  # with the advised lock between ** and **
    where: str  # the places and numbers of threads that were measured
    disturbed: bool  # other work disturbed most of the samples


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
        return no_good_lock(field, where)
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
    return text + why_not_the_fastest(field, best) + strict_order(field, best)


def no_good_lock(field: Field, where: str) -> str:
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
        outside, saturated = min(scores[fairest].outside), scores[fairest].saturated
        throughput = f"times the throughput of {usual or 'the fastest lock'}"
        text += f" The best fair lock is {fairest}: "
        if saturated:
            text += f"{min(saturated):.2f} {throughput} where the lock is saturated, but {outside:.2f} times"
        else:
            text += f"{outside:.2f} {throughput}"
        text += " with work outside."
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


def why_not_the_fastest(field: Field, best: str) -> str:
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
    saturated = [place for place in field.places if not place.work_outside]
    outside = [place for place in (*field.places, *field.others) if place.work_outside]

    def speeds(label: str, reference: str, places: Sequence[Place]) -> list[float]:
        return [value for place in places if (value := place.speed(field.kind, label, reference)) is not None]

    text = f" If strict order matters (first come, first served), use {first}"
    if gain := speeds(first, FAIR_REFERENCE, saturated or outside):
        text += (
            f", which has {min(gain):.2f} times the throughput of a {FAIR_REFERENCE}, the C library's only fair mutex"
        )
    price = max(speeds(best, first, saturated), default=0.0)
    price_outside = max(speeds(best, first, outside), default=0.0)
    if price > 1:
        text += f"; but {best} has {price:.2f} times its throughput"
        text += f", and up to {price_outside:.2f} times with work outside" if price_outside > 1 else ""
    elif price_outside > 1:
        text += f"; but {best} has up to {price_outside:.2f} times its throughput with work outside"
    return f"{text}."
