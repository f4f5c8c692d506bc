# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the papers' claims: whether samples from this machine reproduce them.

A claim is reproduced if each of its comparisons that was measured holds. A comparison checks a median of ratios (or of
figures) against a bound. Nothing is decided if the bound lies between the quartiles, if there are too few runs, or if
other work took a processor away in every run. Only points with the workload's own options and the paper's way of
waiting count, and with a processor for each thread. The window, the number of runs and the machine are not the paper's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fairlock_lab.benchmarks.claim_types import Case, Claim, Comparison, bound
from fairlock_lab.benchmarks.claims import CLAIMS
from fairlock_lab.benchmarks.figures import Figure, Table
from fairlock_lab.benchmarks.results import BenchResults, Point
from fairlock_lab.benchmarks.workloads import WORKLOADS

Outcome = Literal["reproduced", "not reproduced", "not decidable here"]
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
NOT_DECIDABLE: Outcome = "not decidable here"

FEWEST_RUNS = 3


@dataclass(frozen=True)
class Evidence:
    figure: Figure
    disturbed: bool


@dataclass(frozen=True)
class Verdict:
    claim: str
    paper: str
    words: str
    measured: str
    verdict: Outcome
    why: str


def judge(results: Sequence[BenchResults]) -> list[Verdict]:
    """Return a verdict on every claim, from the samples of these files."""
    tables = [Table(file) for file in results]
    cpus = max(map(cpus_of, results), default=0)
    return [decide(claim, tables, cpus) for claim in CLAIMS]


def decide(claim: Claim, tables: Sequence[Table], cpus: int) -> Verdict:
    def verdict(outcome: Outcome, why: str, measured: str = "") -> Verdict:
        return Verdict(claim.name, claim.paper, claim.words, measured, outcome, why)

    if cpus < claim.cpus:
        return verdict(NOT_DECIDABLE, f"needs {claim.cpus} processors; there are {cpus}")
    if reason := undecidable(claim, tables):
        return verdict(NOT_DECIDABLE, reason)
    evidence = [
        (comparison, piece)
        for comparison in claim.comparisons
        if (piece := find_evidence(comparison, tables)) is not None
    ]
    if not evidence:
        return verdict(NOT_DECIDABLE, f"not measured: {claim.command(cpus)}")
    measured = "; ".join(show(comparison, piece.figure) for comparison, piece in evidence)
    doubts = {comparison: undecided(comparison, piece) for comparison, piece in evidence}
    broken = [
        comparison
        for comparison, piece in evidence
        if not doubts[comparison] and not comparison.holds(piece.figure.median)
    ]
    if broken:
        return verdict(NOT_REPRODUCED, f"expected {'; '.join(map(expected, broken))}", measured)
    if reasons := list(dict.fromkeys(filter(None, doubts.values()))):
        return verdict(NOT_DECIDABLE, "; ".join(reasons), measured)
    return verdict(REPRODUCED, "; ".join(dict.fromkeys(bound(comparison) for comparison, _ in evidence)), measured)


def undecided(comparison: Comparison, evidence: Evidence) -> str:
    """Return why the runs do not decide a comparison; empty if they do."""
    if evidence.figure.runs < FEWEST_RUNS:
        return f"fewer than {FEWEST_RUNS} runs"
    if evidence.disturbed and comparison.subject.threads > 1:
        return "other work disturbed every run"
    straddles = any(
        limit is not None and evidence.figure.straddles(limit) for limit in (comparison.least, comparison.most)
    )
    return f"too noisy for {expected(comparison)}" if straddles else ""


def find_evidence(comparison: Comparison, tables: Iterable[Table]) -> Evidence | None:
    """Return the figure of a comparison from the first file that has it."""
    for table in tables:
        for subject in points(comparison.subject, table):
            for reference in references(comparison, table, subject):
                if reference is None:
                    figure, pair = table.figure(subject, comparison.measure), [subject]
                else:
                    figure, pair = table.ratio(subject, reference, comparison.measure), [subject, reference]
                if figure is not None:
                    return Evidence(figure, table.disturbed(*pair))
    return None


def references(comparison: Comparison, table: Table, subject: int) -> Iterable[int | None]:
    """Return the points to compare with: they have the same waiting policy, or no choice of one."""
    if comparison.reference is None:
        return [None]
    waiting = table.points[subject].waiting
    return [
        i for i in points(comparison.reference, table) if waiting is None or table.points[i].waiting in (waiting, None)
    ]


def points(case: Case, table: Table) -> list[int]:
    forms = (case.form, None) if case.form == "guard" else case.form
    numbers = table.find(
        workload=case.workload, config=case.config, lock=case.lock, threads=case.threads, form=forms, hogs=0
    )
    return [i for i in numbers if as_published(table.points[i]) and case.fits(cpus_of(table.results))]


def as_published(point: Point) -> bool:
    """Whether the options are those of the workload, and the waiting policy is the paper's. Others do not count."""
    workload = WORKLOADS[point.workload]
    same = dict(point.options) == dict(workload.configs[point.config].options)
    return same and point.waiting in (None, *(workload.paper_waiting or workload.waiting))


def cpus_of(results: BenchResults) -> int:
    return int(results.machine.get("cpus", 0))


def undecidable(claim: Claim, tables: Iterable[Table]) -> str:
    """Return why the samples decide nothing, according to their metrics. Empty if they decide."""
    for table in tables:
        for comparison in claim.comparisons:
            for point in points(comparison.subject, table):
                for sample in table.samples(point):
                    if sample.metrics.get("decidable") is False:
                        return str(sample.metrics.get("reason", ""))
    return ""


# --- words ---


def show(comparison: Comparison, figure: Figure) -> str:
    other = f" / {comparison.reference}" if comparison.reference else ""
    what = {"throughput": "", "fairness": "slowest/fastest of "}.get(comparison.measure, f"{comparison.measure} of ")
    place = "" if comparison.subject.config == comparison.subject.workload else f" in {comparison.subject.config}"
    span = f" ({figure.low:.2f} to {figure.high:.2f})" if figure.high > figure.low else ""
    return f"{what}{comparison.subject}{other}{place}: {figure.median:.2f}{span}"


def expected(comparison: Comparison) -> str:
    return f"{comparison.subject}: {bound(comparison)}"
