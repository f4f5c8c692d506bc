# SPDX-License-Identifier: Apache-2.0
"""What the papers say that they measured, in our words, and whether samples from here show the same.

A claim holds if each of its comparisons does that was measured. A comparison is a median of ratios (or of figures)
against a bound. If the bound lies between the quartiles, if there are too few runs, or if other work took a processor
away in every run, nothing is decided. Only what was measured as in the paper counts: with its parameters, and with a
processor for each thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fairlock_lab.benchmarks.figures import Figure, Table
from fairlock_lab.benchmarks.results import Point, Results
from fairlock_lab.benchmarks.workloads import (
    CAPACITOR_PAPER,
    HAPAX_PAPER,
    SEMAPHORE_PAPER,
    TAMED_LOCKS,
    TICKETS_AND_MCS,
    TWA_PAPER,
    WORKLOADS,
)

Outcome = Literal["reproduced", "not reproduced", "not decidable here"]
REPRODUCED: Outcome = "reproduced"
NOT_REPRODUCED: Outcome = "not reproduced"
NOT_DECIDABLE: Outcome = "not decidable here"

FEWEST_RUNS = 3
CLOSE = 0.9  # "about the same", "slightly behind": within 10 %
CROWD = "oversubscribed"  # the workload that is about threads without a processor of their own
BESIDE = {"rocksdb": 1}  # threads that a workload has beyond those that are named: here it is the writer


@dataclass(frozen=True)
class Case:
    """Points to look for: one lock in one place."""

    workload: str
    config: str
    lock: str
    threads: int
    form: str = "guard"  # or none, where there is no choice

    def fits(self, cpus: int) -> bool:
        """Whether each thread has a processor, or is not to have one."""
        return self.threads + BESIDE.get(self.workload, 0) <= cpus or self.workload == CROWD

    def __str__(self) -> str:
        form = "" if self.form == "guard" else f", {self.form}"
        return f"{self.lock}{form} at {self.threads}"


@dataclass(frozen=True)
class Found:
    figure: Figure
    disturbed: bool


@dataclass(frozen=True)
class Comparison:
    mine: Case
    theirs: Case | None = None  # None: the figure itself, not a ratio
    least: float | None = None
    most: float | None = None
    measure: str = "throughput"

    def holds(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def undecided(self, found: Found) -> str:
        """Return why the runs do not decide it, if so."""
        if found.figure.runs < FEWEST_RUNS:
            return f"fewer than {FEWEST_RUNS} runs"
        if found.disturbed and self.mine.threads > 1:
            return "other work disturbed every run"
        straddles = any(bound is not None and found.figure.straddles(bound) for bound in (self.least, self.most))
        return f"too noisy for {expected(self)}" if straddles else ""

    @property
    def cases(self) -> list[Case]:
        return [self.mine, *([self.theirs] if self.theirs else [])]


@dataclass(frozen=True)
class Claim:
    name: str
    paper: str  # with the section or figure
    words: str  # what it says, in ours
    cpus: int  # on fewer processors it says nothing
    comparisons: tuple[Comparison, ...] = ()

    def command(self, cpus: int) -> str:
        """Return what measures it, as far as so many processors allow."""
        cases = [case for one in self.comparisons for case in one.cases if case.fits(cpus)]
        configs = ",".join(dict.fromkeys(case.config for case in cases))
        threads = ",".join(map(str, sorted({case.threads for case in cases})))
        words = f"fairlock bench {cases[0].workload} --config {configs} --threads {threads}"
        waiting = WORKLOADS[cases[0].workload].paper_waiting
        return words + (f" --waiting {','.join(waiting)}" if waiting else "")


@dataclass(frozen=True)
class Verdict:
    claim: str
    paper: str
    papers_words_in_ours: str
    measured: str
    verdict: Outcome
    why: str


def judge(results: Sequence[Results]) -> list[Verdict]:
    """Hold every claim against the samples of these files."""
    tables = [Table(one) for one in results]
    cpus = max(map(cpus_of, results), default=0)
    return [decide(claim, tables, cpus) for claim in CLAIMS]


def decide(claim: Claim, tables: Sequence[Table], cpus: int) -> Verdict:
    def verdict(outcome: Outcome, why: str, measured: str = "") -> Verdict:
        return Verdict(claim.name, claim.paper, claim.words, measured, outcome, why)

    if cpus < claim.cpus:
        return verdict(NOT_DECIDABLE, f"needs {claim.cpus} processors; there are {cpus}")
    if reason := undecidable(claim, tables):
        return verdict(NOT_DECIDABLE, reason)
    found = [(one, figure) for one in claim.comparisons if (figure := look(one, tables)) is not None]
    if not found:
        return verdict(NOT_DECIDABLE, f"not measured: {claim.command(cpus)}")
    measured = "; ".join(show(one, what.figure) for one, what in found)
    decided = [(one, what) for one, what in found if not one.undecided(what)]
    if broken := [one for one, what in decided if not one.holds(what.figure.median)]:
        return verdict(NOT_REPRODUCED, f"expected {'; '.join(expected(one) for one in broken)}", measured)
    if len(decided) < len(found):
        reasons = dict.fromkeys(reason for one, what in found if (reason := one.undecided(what)))
        return verdict(NOT_DECIDABLE, "; ".join(reasons), measured)
    return verdict(REPRODUCED, "; ".join(dict.fromkeys(bound(one) for one, _ in found)), measured)


def look(comparison: Comparison, tables: Iterable[Table]) -> Found | None:
    """Return the figure from the first file that has it."""
    for table in tables:
        for mine in points(comparison.mine, table):
            for theirs in rivals(comparison, table, mine):
                pair = [mine, *([theirs] if theirs is not None else [])]
                figure = (
                    table.ratio(mine, theirs, comparison.measure)
                    if theirs is not None
                    else table.figure(mine, comparison.measure)
                )
                if figure is not None:
                    return Found(figure, table.disturbed(*pair))
    return None


def rivals(comparison: Comparison, table: Table, mine: int) -> Iterable[int | None]:
    """Return what a point is compared with: of the same kind of waiting, or of one that has no choice."""
    if comparison.theirs is None:
        return [None]
    waiting = table.points[mine].waiting
    found = points(comparison.theirs, table)
    return [i for i in found if waiting is None or table.points[i].waiting in (waiting, None)]


def points(case: Case, table: Table) -> list[int]:
    forms = (case.form, None) if case.form == "guard" else case.form
    found = table.find(
        workload=case.workload, config=case.config, lock=case.lock, threads=case.threads, form=forms, hogs=0
    )
    return [i for i in found if as_published(table.points[i]) and case.fits(cpus_of(table.results))]


def as_published(point: Point) -> bool:
    """Whether nobody changed the parameters, or how threads wait: then it says nothing of the paper."""
    workload = WORKLOADS[point.workload]
    same = dict(point.options) == dict(workload.configs[point.config].options)
    return same and point.waiting in (None, *(workload.paper_waiting or workload.waiting))


def cpus_of(results: Results) -> int:
    return int(results.machine.get("cpus", 0))


def undecidable(claim: Claim, tables: Iterable[Table]) -> str:
    """Return what the samples themselves say of why they decide nothing."""
    for table in tables:
        for comparison in claim.comparisons:
            for point in points(comparison.mine, table):
                for sample in table.samples(point):
                    if sample.metrics.get("decidable") is False:
                        return str(sample.metrics.get("reason", ""))
    return ""


# --- words ---


def show(comparison: Comparison, figure: Figure) -> str:
    other = f" / {comparison.theirs}" if comparison.theirs else ""
    what = {"throughput": "", "fairness": "slowest/fastest of "}.get(comparison.measure, f"{comparison.measure} of ")
    place = "" if comparison.mine.config == comparison.mine.workload else f" in {comparison.mine.config}"
    span = f" ({figure.low:.2f} to {figure.high:.2f})" if figure.high > figure.low else ""
    return f"{what}{comparison.mine}{other}{place}: {figure.median:.2f}{span}"


def bound(comparison: Comparison) -> str:
    parts = [f"at least {comparison.least:g}"] if comparison.least is not None else []
    parts += [f"at most {comparison.most:g}"] if comparison.most is not None else []
    return " and ".join(parts)


def expected(comparison: Comparison) -> str:
    return f"{comparison.mine}: {bound(comparison)}"


# --- the claims ---


def against(
    workload: str,
    configs: Sequence[str],
    lock: str,
    others: Sequence[str],
    threads: Sequence[int],
    least: float | None = None,
    most: float | None = None,
) -> tuple[Comparison, ...]:
    """Compare the throughput of a lock with that of others, in each place."""
    return tuple(
        Comparison(Case(workload, config, lock, n), Case(workload, config, other, n), least, most)
        for config in configs
        for other in others
        for n in threads
    )


def over_threads(
    workload: str, config: str, locks: Sequence[str], more: int, less: int, least: float | None, most: float | None
) -> tuple[Comparison, ...]:
    """Compare the throughput of each lock with its own at fewer threads."""
    return tuple(
        Comparison(Case(workload, config, lock, more), Case(workload, config, lock, less), least, most)
        for lock in locks
    )


def tamed(suffix: str, base: str, threads: int, least: float | None, most: float | None) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            Case("mutex", "capacitor", f"capacitor-{lock}{suffix}", threads),
            Case("mutex", "capacitor", base.format(lock), threads),
            least,
            most,
        )
        for lock in TAMED_LOCKS
    )


MANY = 24  # threads: where the figures show the collapse of global spinning

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "readers slow a writer",
        f"{TWA_PAPER}, figure 1",
        "The more threads watch a word, the slower its only writer gets.",
        2,
        over_threads("invalidation-diameter", "invalidation-diameter", ["fetch-and-add"], 2, 1, None, CLOSE),
    ),
    Claim(
        "TWA near ticket",
        f"{TWA_PAPER}, figure 2",
        "With few threads TWA is only slightly behind the ticket lock.",
        2,
        against("mutex", ["twa"], "twa", ["ticket"], [1, 2], least=CLOSE),
    ),
    Claim(
        "TWA at least MCS",
        f"{TWA_PAPER}, figure 2",
        "TWA is faster than MCS at every number of threads.",
        2,
        against("mutex", ["twa", "maximum"], "twa", ["mcs"], [2, 4, 8, 16, 32, 64], least=1.0),
    ),
    Claim(
        "ticket collapses",
        f"{TWA_PAPER}, figure 2",
        "Ticket locks do not scale: at 24 threads MCS has overtaken them.",
        MANY,
        against("mutex", ["twa"], "mcs", ["ticket"], [MANY, 32, 64], least=1.0),
    ),
    Claim(
        "TWA scales",
        f"{TWA_PAPER}, abstract and figure 2",
        "With much contention TWA does far more than the ticket lock.",
        MANY,
        against("mutex", ["twa"], "twa", ["ticket"], [MANY, 32, 64], least=1.1),
    ),
    Claim(
        "exceptions do not scale",
        f"{TWA_PAPER}, figure 3",
        "Two threads that throw exceptions do less than one, because the run-time library takes a lock.",
        2,
        over_threads("throw", "throw", ["pthread-mutex", *TICKETS_AND_MCS], 2, 1, None, 1.0),
    ),
    Claim(
        "TWA in stress_latency",
        f"{TWA_PAPER}, abstract and figure 4",
        "In liblock's stress_latency too, TWA is comparable with the ticket lock at few threads.",
        2,
        against("stress-latency", ["stress-latency"], "twa", ["ticket"], [1, 2], least=CLOSE),
    ),
    Claim(
        "ticket in LevelDB",
        f"{TWA_PAPER}, figure 5",
        "In LevelDB's readrandom, ticket locks are slightly ahead of MCS and TWA at few threads.",
        2,
        against("leveldb", ["readrandom"], "ticket", ["mcs", "twa"], [2], least=1.0),
    ),
    Claim(
        "TWA in LevelDB",
        f"{TWA_PAPER}, figure 5",
        "In LevelDB's readrandom, TWA is as good as MCS or better once ticket locks fade.",
        MANY,
        (
            *against("leveldb", ["readrandom"], "twa", ["mcs"], [MANY, 32, 64], least=CLOSE),
            *against("leveldb", ["readrandom"], "twa", ["ticket"], [MANY, 32, 64], least=1.0),
        ),
    ),
    Claim(
        "TWA in RocksDB",
        f"{TWA_PAPER}, figure 6",
        "In RocksDB's readwhilewriting, bound to one shard of its cache, the locks rank as in MutexBench: TWA is near "
        "the ticket lock at few threads, and ahead of MCS.",
        2,
        (
            *against("rocksdb", ["readwhilewriting"], "twa", ["ticket"], [1, 2], least=CLOSE),
            *against("rocksdb", ["readwhilewriting"], "twa", ["mcs"], [2, 4, 8, 16, 32, 64], least=1.0),
        ),
    ),
    Claim(
        "TWA at least qspinlock",
        f"{TWA_PAPER}, figure 7",
        "In the kernel's locktorture TWA does as much as qspinlock or slightly more.",
        2,
        against("locktorture", ["locktorture"], "twa", ["qspinlock"], [1, 2, 4, 8, 16, 32], least=CLOSE),
    ),
    Claim(
        "ticket fades in locktorture",
        f"{TWA_PAPER}, figure 7",
        "In locktorture ticket locks do well with few threads, and fall behind qspinlock with many.",
        MANY,
        against("locktorture", ["locktorture"], "ticket", ["qspinlock"], [MANY, 32, 64], most=1.0),
    ),
    Claim(
        "semaphores alike when few",
        f"{SEMAPHORE_PAPER}, figure 1",
        "With few threads the ticket semaphore and the TWA semaphore do about the same.",
        2,
        against("semaphore", ["semabench"], "twa-semaphore", ["ticket-semaphore"], [1, 2], CLOSE, 1 / CLOSE),
    ),
    Claim(
        "semaphores drop at two",
        f"{SEMAPHORE_PAPER}, figure 1",
        "Every semaphore does less with two threads than with one: what they could share is less than what they lose.",
        2,
        over_threads(
            "semaphore", "semabench", ["ticket-semaphore", "twa-semaphore", "sem_t"], 2, 1, least=None, most=1.0
        ),
    ),
    Claim(
        "TWA semaphore scales",
        f"{SEMAPHORE_PAPER}, figure 1",
        "With more threads the TWA semaphore does more than the ticket semaphore.",
        8,
        against("semaphore", ["semabench"], "twa-semaphore", ["ticket-semaphore"], [8, 16, 32, 64], least=1.0),
    ),
    Claim(
        "HapaxVW in std::atomic",
        f"{HAPAX_PAPER}, figure 1 and section 7",
        "Inside std::atomic's exchange too, Hapax with visible waiters is on a par with MCS and CLH.",
        2,
        against("atomic-exchange", ["atomic-exchange"], "hapax-vw", ["mcs", "clh"], [2], least=CLOSE),
    ),
    Claim(
        "HapaxVW in LevelDB",
        f"{HAPAX_PAPER}, figure 2 and section 6.2",
        "LevelDB's readrandom is much like MutexBench with moderate contention: Hapax with visible waiters is on a par "
        "with MCS, CLH and TWA.",
        2,
        against("leveldb", ["readrandom"], "hapax-vw", ["mcs", "clh", "twa"], [2], least=CLOSE),
    ),
    Claim(
        "Hapax at least MCS",
        f"{HAPAX_PAPER}, sections 6.3 and 7",
        "Hapax locks, with waiters visible or not, perform as well as MCS.",
        2,
        (
            *against("mutex", ["maximum", "moderate"], "hapax", ["mcs"], [2], least=1.0),
            *against("mutex", ["maximum", "moderate"], "hapax-vw", ["mcs"], [2], least=1.0),
        ),
    ),
    Claim(
        "HapaxVW on par",
        f"{HAPAX_PAPER}, figure 3",
        "Hapax with visible waiters is on a par with MCS, CLH, TWA and HemLock.",
        2,
        against("mutex", ["maximum", "moderate"], "hapax-vw", ["mcs", "clh", "twa", "hemlock"], [2], least=CLOSE),
    ),
    Claim(
        "Reciprocating leads",
        f"{HAPAX_PAPER}, figure 3",
        "Reciprocating locks do as much as Hapax with visible waiters, or slightly more.",
        2,
        against("mutex", ["maximum", "moderate"], "reciprocating", ["hapax-vw"], [2], least=CLOSE),
    ),
    Claim(
        "global spinning collapses",
        f"{HAPAX_PAPER}, figure 3",
        "Tidex and ticket locks do not scale, because all waiters watch one word.",
        MANY,
        (
            *against("mutex", ["maximum"], "tidex", ["hapax-vw"], [MANY, 32, 64], most=CLOSE),
            *against("mutex", ["maximum"], "ticket", ["hapax-vw"], [MANY, 32, 64], most=CLOSE),
        ),
    ),
    Claim(
        "fewest invalidations",
        f"{HAPAX_PAPER}, table 2",
        "At ten threads Hapax with visible waiters moves fewer cache lines in an episode than MCS and the ticket lock.",
        10,
        tuple(
            Comparison(
                Case("mutex", "invalidations", "hapax-vw", 10),
                Case("mutex", "invalidations", other, 10),
                most=1.0,
                measure="perf.cache_misses",
            )
            for other in ("mcs", "ticket", "twa")
        ),
    ),
    Claim(
        "the episode in the body costs Hapax",
        f"{HAPAX_PAPER}, section on TWA and Hapax",
        "Where the episode has to pass through the lock's body, Hapax does less than TWA, which has none.",
        2,
        (Comparison(Case("mutex", "rearrival", "hapax", 2, "mutex"), Case("mutex", "rearrival", "twa", 2), most=1.0),),
    ),
    Claim(
        "capacitor's tax",
        f"{CAPACITOR_PAPER}, figure 1",
        "Without contention a capacitor costs a modest part of the throughput (here: at most half).",
        1,
        tamed("", "{}", 1, least=0.5, most=None),
    ),
    Claim(
        "fractional capacitors cost less",
        f"{CAPACITOR_PAPER}, figure 1 and section 5",
        "Letting 99 of 100 arrivals pass the capacitor by takes most of its tax away.",
        1,
        tamed("-fractional", "capacitor-{}", 1, least=1.0, most=None),
    ),
    Claim(
        "capacitors tame LIFO",
        f"{CAPACITOR_PAPER}, figure 1",
        "A capacitor makes even a LIFO lock fair in the long run.",
        1,
        (
            Comparison(Case("oversubscribed", "oversubscribed", "capacitor-lifo", 32), least=0.8, measure="fairness"),
            Comparison(Case("oversubscribed", "oversubscribed", "lifo", 32), most=0.2, measure="fairness"),
        ),
    ),
    Claim(
        "capacitors help test-and-set",
        f"{CAPACITOR_PAPER}, figure 1",
        "Beyond nine threads a capacitor makes a test-and-test-and-set lock both faster and fairer.",
        10,
        (
            *against("mutex", ["capacitor"], "capacitor-tts", ["tts"], [10, 16, 32, 64], least=1.0),
            *(
                Comparison(
                    Case("mutex", "capacitor", "capacitor-tts", n),
                    Case("mutex", "capacitor", "tts", n),
                    least=1.0,
                    measure="fairness",
                )
                for n in (10, 16, 32, 64)
            ),
        ),
    ),
    Claim(
        "capacitors do not help MCS",
        f"{CAPACITOR_PAPER}, section 5",
        "MCS is FIFO and spins privately: a capacitor around it gains no throughput.",
        2,
        against("mutex", ["capacitor"], "capacitor-mcs", ["mcs"], [2], most=1.0),
    ),
)
