# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the papers' claims and on the project's targets, from hand-made samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from results_data import Metrics, measured, point, rates

from fairlock_lab.benchmarks import claims, targets, verdicts
from fairlock_lab.benchmarks.results import BenchResults, Point


def verdict_on(name: str, evidence: Sequence[BenchResults]) -> verdicts.Verdict:
    return next(verdict for verdict in verdicts.judge(evidence) if verdict.claim == name)


@pytest.mark.parametrize(
    ("twa", "expected"),
    [
        ([98, 99, 100], verdicts.REPRODUCED),
        ([50, 51, 52], verdicts.NOT_REPRODUCED),
        ([80, 91, 99], verdicts.NOT_DECIDABLE),  # on both sides of the bound
    ],
)
def test_a_claim_is_decided_by_the_median_and_the_quartiles(twa: list[float], expected: str) -> None:
    pair = [(point("twa", config="twa"), rates(*twa)), (point("ticket", config="twa"), rates(100, 100, 100))]
    verdict = verdict_on("TWA near ticket", [measured(pair)])
    assert verdict.verdict == expected
    assert "twa at 2 / ticket at 2" in verdict.measured


def test_a_claim_about_more_processors_is_not_decidable() -> None:
    pair = [(point("mcs", 32, "twa"), rates(2)), (point("ticket", 32, "twa"), rates(1))]
    assert verdict_on("ticket collapses", [measured(pair, cpus=2)]).why == "needs 24 processors; there are 2"
    assert verdict_on("ticket collapses", [measured(pair, cpus=32)]).why == "fewer than 3 runs"
    often = [(where, 3 * runs) for where, runs in pair]
    assert verdict_on("ticket collapses", [measured(often, cpus=32)]).verdict == verdicts.REPRODUCED


def test_a_claim_about_each_number_of_threads_stops_at_the_processors() -> None:
    pairs = [
        (point(lock, threads, "twa"), rates(*[rate] * 3))
        for threads, twa in ((2, 2.0), (4, 0.5))
        for lock, rate in (("twa", twa), ("mcs", 1.0))
    ]
    small, large = (verdict_on("TWA at least MCS", [measured(pairs, cpus=cpus)]) for cpus in (2, 4))
    assert (small.verdict, "at 4" in small.measured) == (verdicts.REPRODUCED, False)
    assert (large.verdict, "at 4" in large.measured) == (verdicts.NOT_REPRODUCED, True)


@pytest.mark.parametrize("change", [{"options": {"critical": 3000}}, {"waiting": "park"}])
def test_parameters_that_differ_from_the_paper_decide_nothing(change: dict[str, Any]) -> None:
    pair = [(point(lock, config="twa", **change), rates(9, 9, 9)) for lock in ("twa", "ticket")]
    assert verdict_on("TWA near ticket", [measured(pair)]).why.startswith("not measured")


def test_disturbed_samples_decide_nothing_about_two_threads() -> None:
    pair = [
        (point("twa", config="twa"), rates(9, 9, 9, other_work=0.3)),
        (point("ticket", config="twa"), rates(9, 9, 9)),
    ]
    assert verdict_on("TWA near ticket", [measured(pair)]).why == "other work disturbed every run"


def test_an_unmeasured_claim_names_the_command() -> None:
    verdict = verdict_on("semaphores alike when few", [measured([(point("twa"), rates(1))])])
    assert verdict.verdict == verdicts.NOT_DECIDABLE
    assert "fairlock bench semaphore --config semabench --threads 1,2" in verdict.why
    verdict = verdict_on("TWA at least MCS", [measured([(point("twa"), rates(1))], cpus=8)])
    assert "fairlock bench mutex --config twa,maximum --threads 2,4,8" in verdict.why


def test_every_claim_can_be_measured_on_the_processors_that_it_needs() -> None:
    for claim in claims.CLAIMS:
        assert claim.command(claim.cpus).startswith("fairlock bench ")


def inside_leveldb(waiting: str) -> BenchResults:
    """Return two locks inside LevelDB. The claim of the paper holds for locks that spin."""
    return measured(
        [
            (point(lock, config="readrandom", workload="leveldb", waiting=waiting), rates(9, 9, 9))
            for lock in ("hapax-vw", "mcs")
        ]
    )


def test_locks_inside_programs_decide_if_they_wait_as_in_the_papers() -> None:
    name = "HapaxVW in LevelDB"
    assert verdict_on(name, [inside_leveldb("spin")]).verdict == verdicts.REPRODUCED
    verdict = verdict_on(name, [inside_leveldb("spin-then-park")])
    assert verdict.why == "not measured: fairlock bench leveldb --config readrandom --threads 2 --waiting spin"


def test_the_writer_of_rocksdb_needs_a_processor_too() -> None:
    pair = [
        (point(lock, config="readwhilewriting", workload="rocksdb"), rates(*[rate] * 3))
        for lock, rate in (("twa", 1), ("mcs", 2))
    ]
    small, large = (verdict_on("TWA in RocksDB", [measured(pair, cpus=cpus)]) for cpus in (2, 3))
    assert (small.measured, large.verdict) == ("", verdicts.NOT_REPRODUCED)


def test_claims_that_samples_call_undecidable() -> None:
    sample = {"throughput": 1.0, "decidable": False, "reason": "this libgcc takes no mutex"}
    evidence = measured([(point("pthread-mutex", n, "throw", "throw", waiting=None), [sample]) for n in (1, 2)])
    assert verdict_on("exceptions do not scale", [evidence]).why == "this libgcc takes no mutex"


def test_every_claim_has_a_verdict_and_a_name_of_its_own() -> None:
    judged = verdicts.judge([])
    assert len({verdict.claim for verdict in judged}) == len(claims.CLAIMS) >= 12
    assert all(verdict.verdict == verdicts.NOT_DECIDABLE and verdict.why for verdict in judged)


def test_targets() -> None:
    def crowd(lock: str, fairness: float, rate: float) -> tuple[Point, list[Metrics]]:
        place = point(lock, 32, "oversubscribed", "oversubscribed", waiting="spin-then-park")
        return place, [{"throughput": rate, "fairness": fairness, "longest_wait": 0.01}] * 3

    evidence = measured([crowd("fair", 0.95, 24), crowd("pthread-mutex", 0.1, 10), crowd("lifo", 0.5, 10)])
    judged = {(one.lock, one.what): one for one in targets.judge(evidence) if one.figure is not None}
    assert judged["fair", "x pthread-mutex"].verdict == "met"
    assert judged["fair", "slowest/fastest"].verdict == "met"
    assert judged["lifo", "slowest/fastest"].verdict == "MISSED"
    assert judged["fair", "x the longest wait of pthread-mutex"].in_doubt()  # exactly at the bound
    assert any(one.verdict == "not measured" for one in targets.judge(evidence))
