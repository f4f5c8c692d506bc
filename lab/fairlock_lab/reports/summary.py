# SPDX-License-Identifier: Apache-2.0
"""What the page says in words: who won where, and how far the measurement can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairlock_lab.benchmarks.figures import MOST_OTHER_WORK, calm, value_of
from fairlock_lab.reports.contest import Contest, contest, reference
from fairlock_lab.reports.data import Group, Source
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.noise import Interval
from fairlock_lab.reports.words import counted, listed, times


@dataclass(frozen=True)
class Note:
    lead: str
    text: str
    warning: bool = False


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
        ahead = f"{times(one.ahead[second])} {self.better} {second}"
        if not one.decided:
            return f"{ahead}; too few runs to be sure"
        if one.tied:
            return f"too close to call with {listed(one.tied)}"
        return ahead

    @property
    def better(self) -> str:
        return "that of" if MEASURES[self.contest.measure].better == "more" else "as fast as"

    @property
    def crowded(self) -> bool:
        return self.group.oversubscribed(self.threads)

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
    yield from (disturbance(sources), *crowding(groups), *exclusion(groups), *gaps(sources), *undrawn(groups))


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
    text = f"In {disturbed} of {len(samples)} samples other work took {share}; they are left out where enough remain."
    if lost:
        text += f" {counted(len(lost), 'point')} had no calm sample at all, such as {lost[0]}."
    return Note("Disturbed.", text, warning=bool(lost) or disturbed > len(samples) / 4)


def crowding(groups: Sequence[Group]) -> Iterator[Note]:
    """Yield which points have more threads than processors, if they are known."""
    if not any(n for group in groups for n in group.threads):
        return
    cpus = {group.source.cpus for group in groups}
    counts = sorted({n for group in groups for n in group.threads if group.oversubscribed(n)})
    there = " or ".join(f"{n}" for n in sorted(cpus)) + (" CPU" if cpus == {1} else " CPUs")
    if not counts:
        yield Note("A CPU for each thread.", f"No point has more threads than the {there}.")
        return
    yield Note(
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


def undrawn(groups: Sequence[Group]) -> Iterator[Note]:
    """Yield the numbers of groups that have no figure."""
    told = []
    for group in groups:
        if not any(group.has(name) for name in MEASURES):
            names = dict.fromkeys(key for sample in group.samples() for key in sample.metrics)
            for name in names:
                found = [value for sample in group.samples() if (value := value_of(sample.metrics, name)) is not None]
                if found and name != "other_work":
                    span = f"{min(found):g}" if min(found) == max(found) else f"{min(found):g} to {max(found):g}"
                    told.append(f"{group.title}: {name} {span}")
    if told:
        yield Note("Not drawn:", f"{'; '.join(told)}.")
