"""What the page says in words: which lock to take here, who won where, and how far the measurement can be trusted."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairlock.bench.figures import MOST_OTHER_WORK, calm
from fairlock.report.contest import Contest, contest, leading, rank, reference
from fairlock.report.data import NEGATIVE_CONTROL, Group, Source
from fairlock.report.measures import MEASURES
from fairlock.report.noise import Interval
from fairlock.report.parts import counted

SLEEPING = {"park", "spin-then-park"}
EVEN = 0.8  # slowest thread / fastest, from which nobody starves


@dataclass(frozen=True)
class Advice:
    kind: str  # lock or semaphore
    text: str
    where: str  # it was measured


@dataclass(frozen=True)
class Note:
    lead: str
    text: str
    warning: bool = False


# --- words ---


def times(interval: Interval) -> str:
    """Return a ratio and its interval: 1.25 (1.2 to 1.3) times."""
    value = short(interval.value)
    if not interval.known:
        return f"{value} times"
    return f"{value} ({short(interval.low)} to {short(interval.high)}) times"


def short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def listed(names: Sequence[str], word: str = "and", most: int = 4) -> str:
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


# --- which lock should I use here? ---


@dataclass(frozen=True)
class Score:
    """How a lock did over many points: in each run, its share of the best median of each point, as a geometric mean."""

    runs: Mapping[int, float]
    fairness: float  # the worst of the medians


def scores(places: Sequence[tuple[Group, int]], kind: str) -> dict[str, Score]:
    """Return the score of each lock that was measured in all of these places."""
    logs: dict[str, dict[int, list[float]]] = {}
    fairness: dict[str, float] = {}
    for group, threads in places:
        found = {i: group.in_runs(i, "throughput") for i in group.at(threads) if candidate(group, i, kind)}
        best = max((statistics.median(runs.values()) for runs in found.values() if runs), default=0.0)
        for i, runs in found.items():
            mine = logs.setdefault(group.labels[i], {})
            for run, value in runs.items():
                if value > 0:
                    mine.setdefault(run, []).append(math.log(value / best))
            even = group.figure(i, "fairness")
            if even is not None:
                fairness[group.labels[i]] = min(even.median, fairness.get(group.labels[i], 1.0))
    whole = {label: {run: one for run, one in runs.items() if len(one) == len(places)} for label, runs in logs.items()}
    return {
        label: Score({run: math.exp(statistics.fmean(one)) for run, one in runs.items()}, fairness.get(label, math.nan))
        for label, runs in whole.items()
        if runs
    }


def candidate(group: Group, number: int, kind: str) -> bool:
    """Whether somebody could take this one: no baseline, no control, no array that was made small."""
    lock = group.points[number].lock
    strange = lock == NEGATIVE_CONTROL or "/" in lock or lock.startswith(("semaphore-around", "ck-"))
    return group.kind(number) == kind and not strange and group.points[number].form in ("guard", None)


def places_of(groups: Iterable[Group], kind: str, *, crowded: bool) -> list[tuple[Group, int]]:
    """Return where several threads wanted one lock, and the leading measure is how often they got it."""
    return [
        (group, threads)
        for group in groups
        if leading(group) == "throughput" and group.has("fairness")
        for threads in group.threads
        if threads > 1 and group.oversubscribed(threads) is crowded
        if sum(candidate(group, i, kind) for i in group.at(threads)) > 1
    ]


def field(places: Sequence[tuple[Group, int]], kind: str) -> list[tuple[Group, int]]:
    """Return the places where the same locks took part, the most that did; sleepers first, where threads must sleep."""
    entrants: dict[frozenset[str], list[tuple[Group, int]]] = {}
    for group, threads in places:
        labels = frozenset(group.labels[i] for i in group.at(threads) if candidate(group, i, kind))
        entrants.setdefault(labels, []).append((group, threads))

    def worth(labels: frozenset[str]) -> tuple[bool, int, int]:
        group, threads = entrants[labels][0]
        sleeps = group.oversubscribed(threads) and bool(SLEEPING.intersection(group.waiting))
        return sleeps, sum(not label.startswith("capacitor") for label in labels), len(entrants[labels])

    return entrants[max(entrants, key=worth)] if entrants else []


def advice(groups: Sequence[Group]) -> Iterator[Advice]:
    """Yield which lock to take: with a processor for each thread, and with fewer."""
    for kind in ("lock", "semaphore"):
        for crowded in (False, True):
            places = field(places_of(groups, kind, crowded=crowded), kind)
            found = scores(places, kind)
            if len(found) > 1:
                where = "With more threads than CPUs" if crowded else "With a CPU for each thread"
                names = dict.fromkeys(group.title for group, _ in places)
                counts = sorted({threads for _, threads in places})
                if kind != "lock":
                    where = f"As a {kind}, {where[0].lower()}{where[1:]}"
                measured = f"{listed(list(names))}, {listed([str(n) for n in counts])} threads"
                yield Advice(kind, take(found, where), measured)


def take(found: Mapping[str, Score], where: str) -> str:
    even = {label: score for label, score in found.items() if score.fairness >= EVEN}
    ranked = rank({label: score.runs for label, score in (even or found).items()}, "throughput")
    assert ranked is not None
    best, fairness = ranked.best, found[ranked.best].fairness
    usual = reference(found)
    text = f"{where}, take **{best}**"
    if ranked.tied:
        text += f" (or {listed(ranked.tied, 'or')}: too close to call)"
    if not ranked.decided:
        text += " (too few runs to be sure)"
    if usual is not None and usual != best:
        against = rank({best: found[best].runs, usual: found[usual].runs}, "throughput")
        assert against is not None
        if against.best == best:
            text += f": {times(against.ahead[usual])} the throughput of {usual}"
        else:
            text += f": {usual} had {times(against.ahead[best])} its throughput"
        there = f"{found[usual].fairness:.2f} there"
        text += f", and its slowest thread got {fairness:.2f} of the fastest one's turns ({there})."
    else:
        text += f". Its slowest thread got {fairness:.2f} of the fastest one's turns."
    if not even:
        return f"{text} No lock shared the turns evenly here (at least {EVEN})."
    overall = rank({label: score.runs for label, score in found.items()}, "throughput")
    if overall is not None and overall.best not in (best, usual) and overall.ahead[best].above(1):
        ratio = times(overall.ahead[best])
        unfair = found[overall.best].fairness
        text += f" {overall.best} had {ratio} that throughput, but its slowest thread got only {unfair:.2f}."
    return text


# --- who won where ---


@dataclass(frozen=True)
class Win:
    """One row of the table: a group at one number of threads."""

    group: Group
    threads: int
    kind: str
    contest: Contest
    against: tuple[str, Interval] | None  # the usual choice, and how many times better the best is

    @property
    def words(self) -> str:
        one = self.contest
        if not one.ahead:
            return "alone"
        second = next(iter(one.ahead))
        if not one.decided:
            return f"{times(one.ahead[second])} {second}; too few runs to be sure"
        if one.tied:
            return f"too close to call with {listed(one.tied)}"
        return f"{times(one.ahead[second])} {second}"

    @property
    def value(self) -> str:
        return MEASURES[self.contest.measure].write(self.contest.value)


def wins(groups: Sequence[Group]) -> list[Win]:
    found = []
    for group in groups:
        for kind in group.kinds:
            for threads in group.threads:
                one = contest(group, threads, kind)
                if one is None or not one.ahead:
                    continue
                usual = reference(one.ahead)
                found.append(Win(group, threads, kind, one, (usual, one.ahead[usual]) if usual else None))
    return found


# --- how far it can be trusted ---


def notes(sources: Sequence[Source], groups: Sequence[Group]) -> Iterator[Note]:
    """Yield what a reader has to know before believing anything."""
    yield from (disturbance(sources), crowding(groups), *exclusion(groups), *gaps(sources))


def disturbance(sources: Sequence[Source]) -> Note:
    samples = [sample for source in sources for sample in source.results.samples]
    disturbed = sum(not calm(sample) for sample in samples)
    lost = [
        source.results.plan.points[i]
        for source in sources
        for i in range(len(source.results.plan.points))
        if source.table.disturbed(i)
    ]
    share = f"more than {MOST_OTHER_WORK:.0%} of the processors' time"
    if not disturbed:
        return Note("Calm.", f"In none of the {len(samples)} samples did other work take {share}.")
    text = f"In {disturbed} of {len(samples)} samples other work took {share}; they are left out where others remain."
    if lost:
        text += f" {counted(len(lost), 'point')} had no calm sample at all, such as {lost[0]}."
    return Note("Disturbed.", text, warning=bool(lost) or disturbed > len(samples) / 4)


def crowding(groups: Sequence[Group]) -> Note:
    """Say which points have more threads than processors."""
    cpus = {group.source.cpus for group in groups}
    counts = sorted({n for group in groups for n in group.threads if group.oversubscribed(n)})
    there = " or ".join(f"{n}" for n in sorted(cpus)) + (" CPU" if cpus == {1} else " CPUs")
    if not counts:
        return Note("A CPU for each thread.", f"No point has more threads than the {there}.")
    return Note(
        "More threads than CPUs",
        f"at {listed([str(n) for n in counts])} threads, with {there}: the scheduler decides as much as the lock. "
        "The figures are shaded there.",
    )


def exclusion(groups: Sequence[Group]) -> Iterator[Note]:
    checked = Counter(
        str(sample.metrics["exclusion"])
        for group in groups
        for sample in group.samples()
        if "exclusion" in sample.metrics
    )
    sure = {how: count for how, count in checked.items() if how in ("replayed", "witnessed")}
    if sure:
        yield Note(
            "Exclusion",
            f"held in every sample that was checked ({', '.join(f'{n} {how}' for how, n in sure.items())}).",
        )
    controls = [
        sample.metrics["caught"] for group in groups for sample in group.samples() if "caught" in sample.metrics
    ]
    if controls and all(controls):
        yield Note(
            "The control worked:",
            f"the lock that lets everybody in was caught {counted(len(controls), 'time')}, always.",
        )
    elif controls:
        text = f"the lock that lets everybody in was not noticed in {controls.count(False)} of {len(controls)} samples."
        yield Note("The control failed:", text, warning=True)


def gaps(sources: Sequence[Source]) -> Iterator[Note]:
    """Yield what is missing."""
    for source in sources:
        left, planned = len(source.results.left()), len(source.results.plan.order)
        if left:
            text = f"{source.path.name} has {planned - left} of {planned} samples; `fairlock bench --resume` goes on."
            yield Note("Not complete.", text, warning=True)
    missing = {what: why for source in sources for what, why in source.results.missing.items()}
    for what, why in missing.items():
        yield Note(f"Without {what}:", f"{why}.")
    reasons = Counter(
        str(perf["unavailable"])
        for source in sources
        for sample in source.results.samples
        if isinstance(perf := sample.metrics.get("perf"), dict) and "unavailable" in perf
    )
    for reason in reasons:
        yield Note("Without hardware counters:", f"{reason}.")
    few = [source for source in sources if source.results.plan.runs < 3]
    if few:
        text = "with fewer than three runs nothing can be said of chance; `--runs 5` or more is better."
        yield Note("Few runs:", text, warning=True)
