# SPDX-License-Identifier: Apache-2.0
"""The table of ``fairlock bench short``: how the locks do here, which one to use, and the papers' claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairlock_lab.benchmarks import verdicts
from fairlock_lab.benchmarks.blocks import Block, Grid, paragraph
from fairlock_lab.benchmarks.composites import TABLE_LOCKS
from fairlock_lab.benchmarks.figures import Table
from fairlock_lab.benchmarks.lock_sets import NO_LOCK
from fairlock_lab.benchmarks.measures import number
from fairlock_lab.benchmarks.results import BenchResults
from fairlock_lab.reports import tables
from fairlock_lab.reports.advice import NO_ADVICE, NOT_RELIABLE, advice
from fairlock_lab.reports.data import Source, groups_of

REFERENCE = "pthread-mutex"


@dataclass(frozen=True)
class Column:
    head: str
    measure: str
    unit: float | None = None  # None: the figure is a multiple of the reference's


@dataclass(frozen=True)
class Section:
    """Columns that show one place."""

    where: dict[str, object]
    columns: tuple[Column, ...]
    title: str = ""  # empty: the number of threads, and their work


SPEED, CPUS = Column("speed", "throughput"), Column("CPUs", "processors", 1)
EVEN, WAIT = Column("slow/fast", "fairness", 1), Column("wait", "longest_wait", 1e-3)
CROWD: dict[str, object] = {"workload": "oversubscribed", "threads": 32}
SECTIONS = (
    Section({"workload": "uncontended"}, (Column("ns", "ns", 1),), "alone"),
    Section({"workload": "outside", "config": "pair-100-100"}, (SPEED, CPUS)),
    Section({"workload": "outside", "config": "crowd-20-1000"}, (SPEED, EVEN, CPUS)),
    Section({**CROWD, "hogs": 0}, (SPEED, EVEN, WAIT)),
    Section({**CROWD, "hogs": 2}, (SPEED, EVEN, WAIT), "the same, busy"),
)
LEGEND = (
    "alone: an acquire and its release. 100+100: about 100 ns of work inside the lock and 100 outside. busy: beside 2 "
    f"processes that burn CPU. speed: turns divided by those of a {REFERENCE}. slow/fast: turns of the slowest thread "
    "divided by those of the fastest. CPUs: processors kept busy. wait: the longest wait, in ms. "
    f"{NO_LOCK}: the same work without a lock, which is the upper limit."
)
INDENT = 20


def blocks(results: BenchResults) -> list[Block]:
    samples = Table(results)
    rows = [
        [lock, *(cell(samples, lock, section, column) for section in SECTIONS for column in section.columns)]
        for lock in TABLE_LOCKS
    ]
    heads = [column.head for section in SECTIONS for column in section.columns]
    groups = [("", 1), *((title(samples, section), len(section.columns)) for section in SECTIONS)]
    grid = Grid(["lock", *heads], [row for row in rows if any(row[1:])], heads, groups)
    return [grid, paragraph(LEGEND), *advice_blocks(results), *claim_blocks([results]), *tables.notes(samples)]


def title(samples: Table, section: Section) -> str:
    numbers = samples.find(**section.where)
    if section.title or not numbers:
        return section.title if numbers else ""
    point = samples.points[numbers[0]]
    return f"{tables.threads(point.threads)}, {point.options.get('critical')}+{point.options.get('non-critical')}"


def cell(samples: Table, lock: str, section: Section, column: Column) -> str:
    subject = next(iter(samples.find(lock=lock, **section.where)), None)
    if subject is None:
        return ""
    if column.unit is not None:
        figure = samples.figure(subject, column.measure)
        if figure is None:
            return ""
        value = figure.median / column.unit
        return number(value) if value >= 1 else f"{value:.2f}"  # narrow columns
    reference = next(iter(samples.find(lock=REFERENCE, **section.where)), None)
    ratio = samples.ratio(subject, reference, column.measure) if reference is not None else None
    return f"{ratio.median:.2f}" if ratio is not None else ""


def advice_blocks(results: BenchResults) -> list[Block]:
    """Return the sentences that the page of these results has too."""
    pieces = list(advice(groups_of([Source(Path("results.json"), results)])))
    if not pieces:
        return [NO_ADVICE]
    warning = [NOT_RELIABLE] if any(piece.disturbed for piece in pieces) else []
    sentences = [*warning, *(piece.text.replace("**", "") for piece in pieces)]
    return ["Which lock should I use here?", *map(paragraph, sentences)]


def claim_blocks(results: Sequence[BenchResults]) -> list[Block]:
    """Return the claims that were decided, and the number of the others."""
    judged = verdicts.judge(results)
    measured = [verdict for verdict in judged if verdict.measured]
    if not measured:
        return []
    lines = []
    for verdict in measured:
        lines.append(f"{verdict.verdict:{INDENT - 2}}  {verdict.words} ({verdict.paper})")
        lines.append(f"{'':{INDENT}}{verdict.measured}")
        if verdict.verdict != verdicts.REPRODUCED:
            lines.append(f"{'':{INDENT}}{verdict.why}")
    undecidable = sum(verdict.why.startswith("needs") for verdict in judged)
    elsewhere = len(judged) - len(measured) - undecidable
    cpus = results[0].machine["cpus"]
    rest = f"{undecidable} more claims need more than {cpus} processors; other workloads measure {elsewhere}."
    return ["What the papers report, and what was measured here", "\n".join(lines), rest]
