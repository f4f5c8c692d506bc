# SPDX-License-Identifier: Apache-2.0
"""What the page says in words: which lock won where, and how far to trust the measurement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairlock_lab.benchmarks.figures import MOST_OTHER_WORK, is_undisturbed, value_of
from fairlock_lab.reports.contest import Contest, contest, usual_lock
from fairlock_lab.reports.data import Group, Source
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.noise import Interval
from fairlock_lab.reports.words import counted, listed, times


@dataclass(frozen=True)
class Note:
    lead: str
    text: str
    warning: bool = False


# --- winners ---


@dataclass(frozen=True)
class Win:
    """One row of the table: a group at one number of threads."""

    group: Group
    threads: int
    kind: str
    contest: Contest
    against: tuple[str, Interval] | None  # the usual lock, and how many times better the best one is

    @property
    def words(self) -> str:
        if not self.contest.ahead:
            return "without rivals"
        second = next(iter(self.contest.ahead))
        ahead = f"{times(self.contest.ahead[second])} {self.better} {second}"
        if not self.contest.decided:
            return f"{ahead}; too few runs to be sure"
        if self.contest.tied:
            return f"too close to call with {listed(self.contest.tied)}"
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
    result = []
    for group in groups:
        for kind in group.kinds:
            for threads in group.threads:
                ranked = contest(group, threads, kind)
                if ranked is None or not ranked.ahead:
                    continue
                usual = usual_lock(ranked.ahead)
                result.append(Win(group, threads, kind, ranked, (usual, ranked.ahead[usual]) if usual else None))
    return result


# --- how far it can be trusted ---


def notes(sources: Sequence[Source], groups: Sequence[Group]) -> Iterator[Note]:
    """Yield what a reader must know before trusting the figures."""
    yield from (
        disturbance(sources),
        *crowding(groups),
        *exclusion(groups),
        *gaps(sources),
        *metrics_without_figure(groups),
    )


def disturbance(sources: Sequence[Source]) -> Note:
    samples = [sample for source in sources for sample in source.results.samples]
    disturbed = sum(not is_undisturbed(sample) for sample in samples)
    lost = [
        source.results.plan.points[i]
        for source in sources
        for i in range(len(source.results.plan.points))
        if source.table.disturbed(i)
    ]
    share = f"more than {MOST_OTHER_WORK:.0%} of the processors' time"
    if not disturbed:
        return Note("Undisturbed.", f"Other work took {share} in none of the {len(samples)} samples.")
    text = f"Other work took {share} in {disturbed} of {len(samples)} samples. "
    text += "The figures leave these samples out where enough others remain."
    if lost:
        text += f" {counted(len(lost), 'point')} had only disturbed samples, such as {lost[0]}."
    return Note("Disturbed.", text, warning=bool(lost) or disturbed > len(samples) / 4)


def crowding(groups: Sequence[Group]) -> Iterator[Note]:
    """Yield which points have more threads than processors, if the numbers of threads are known."""
    if not any(n for group in groups for n in group.threads):
        return
    cpus = {group.source.cpus for group in groups}
    counts = sorted({n for group in groups for n in group.threads if group.oversubscribed(n)})
    cpu_words = " or ".join(f"{n}" for n in sorted(cpus)) + (" CPU" if cpus == {1} else " CPUs")
    if not counts:
        yield Note("A CPU for each thread.", f"No point has more threads than the {cpu_words}.")
        return
    yield Note(
        "More threads than CPUs",
        f"at {listed([str(n) for n in counts])} threads, with {cpu_words}: the scheduler matters as much as the lock. "
        "The figures shade this range.",
    )


def exclusion(groups: Sequence[Group]) -> Iterator[Note]:
    checked = Counter(
        str(sample.metrics["exclusion"])
        for group in groups
        for sample in group.samples()
        if "exclusion" in sample.metrics
    )
    verified = {how: count for how, count in checked.items() if how in ("replayed", "witnessed")}
    if verified:
        yield Note(
            "Exclusion",
            f"held in every sample that was checked ({', '.join(f'{n} {how}' for how, n in verified.items())}).",
        )
    controls = [
        sample.metrics["caught"] for group in groups for sample in group.samples() if "caught" in sample.metrics
    ]
    if controls and all(controls):
        yield Note(
            "The control worked:",
            f"the broken lock was caught in all {counted(len(controls), 'sample')}.",
        )
    elif controls:
        text = f"the broken lock was not caught in {controls.count(False)} of {len(controls)} samples."
        yield Note("The control failed:", text, warning=True)


def gaps(sources: Sequence[Source]) -> Iterator[Note]:
    """Yield which samples, libraries and counters are missing."""
    for source in sources:
        remaining, planned = len(source.results.remaining), len(source.results.plan.order)
        if remaining:
            taken = planned - remaining
            text = f"{source.path.name} has {taken} of {planned} samples; `fairlock bench --resume` takes the others."
            yield Note("Not complete.", text, warning=True)
    missing = {name: why for source in sources for name, why in source.results.missing.items()}
    for name, why in missing.items():
        yield Note(f"Without {name}:", f"{why}.")
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
        text = "with fewer than three runs, chance may explain every difference; use `--runs 5` or more."
        yield Note("Few runs:", text, warning=True)


def metrics_without_figure(groups: Sequence[Group]) -> Iterator[Note]:
    """Yield the metrics of groups that have no figure."""
    texts = []
    for group in groups:
        if not any(group.has(name) for name in MEASURES):
            names = dict.fromkeys(key for sample in group.samples() for key in sample.metrics)
            for name in names:
                values = [value for sample in group.samples() if (value := value_of(sample.metrics, name)) is not None]
                if values and name != "other_work":
                    low, high = min(values), max(values)
                    span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
                    texts.append(f"{group.title}: {name} {span}")
    if texts:
        yield Note("Without a figure:", f"{'; '.join(texts)}.")
