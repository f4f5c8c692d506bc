# SPDX-License-Identifier: Apache-2.0
"""Results files, and what is computed from them: medians, ratios within a run, verdicts on claims and targets."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fairlock.usage import UsageError
from fairlock_lab.benchmarks import claims, harness, results, short, targets
from fairlock_lab.benchmarks.figures import Figure, Table, percentile, value_of
from fairlock_lab.benchmarks.plan import make
from fairlock_lab.benchmarks.results import Point, Results, Sample
from fairlock_lab.benchmarks.workloads import WORKLOADS

Metrics = dict[str, Any]


def point(lock: str, threads: int = 2, config: str = "maximum", workload: str = "mutex", **more: Any) -> Point:
    known = WORKLOADS[workload].configs.get(config)
    options = known.options if known is not None else {}
    usual = {"waiting": "spin", "form": None, "hogs": 0, "seconds": 1.0, "family": "contend", "options": options}
    return Point(workload, config, lock, threads=threads, **{**usual, **more})


def measured(samples: Sequence[tuple[Point, Sequence[Metrics]]], cpus: int = 2) -> Results:
    """Results of hand-made samples: a list of metrics for each point, run by run."""
    plan = make("mutex", [(one, len(runs)) for one, runs in samples], seed=1, warm_up=0.1)
    return Results(
        created="2026-11-15T18:00:00Z",
        fairlock="0.1.0",
        command=["bench", "mutex"],
        machine={"cpus": cpus, "cpu": "a processor"},
        plan=plan,
        samples=[
            Sample(i, run, 1, 0.0, False, metrics)
            for i, (_, runs) in enumerate(samples)
            for run, metrics in enumerate(runs)
        ],
        complete=True,
    )


def rates(*values: float, other_work: float = 0.0) -> list[Metrics]:
    return [{"throughput": value, "other_work": other_work} for value in values]


# --- figures ---


def test_median_and_quartiles() -> None:
    assert Figure.of([3.0, 1.0, 2.0, 4.0, 5.0]) == Figure(3.0, 2.0, 4.0, 5)
    assert Figure.of([7.0]) == Figure(7.0, 7.0, 7.0, 1)
    assert Figure.of([1.0, math.inf, math.inf]).median == math.inf
    assert Figure.of([3.0, 1.0, 2.0, 4.0, 5.0]).spread == pytest.approx(2 / 3)


def test_a_ratio_is_taken_within_a_run() -> None:
    # The machine slowed down by ten times in the second run, for both.
    found = Table(measured([(point("twa"), rates(20, 2, 22)), (point("mcs"), rates(10, 1, 11))]))
    assert found.ratio(0, 1, "throughput") == Figure(2.0, 2.0, 2.0, 3)


def test_disturbed_runs_do_not_count_unless_there_are_no_others() -> None:
    disturbed = [*rates(1000, other_work=0.5), *rates(20, 24)]
    found = Table(measured([(point("twa"), disturbed), (point("mcs"), rates(8, 8, 8))]))
    assert found.figure(0, "throughput") == Figure(22.0, 21.0, 23.0, 2)
    assert found.ratio(0, 1, "throughput") == Figure(2.75, 2.625, 2.875, 2)
    assert not found.disturbed(0)
    nothing_else = Table(measured([(point("twa"), rates(5, 7, other_work=0.9))]))
    assert nothing_else.figure(0, "throughput") == Figure(6.0, 5.5, 6.5, 2)
    assert nothing_else.disturbed(0)


def test_a_run_that_only_one_has_is_no_pair() -> None:
    found = Table(measured([(point("twa"), rates(20, 2)), (point("mcs"), rates(10))]))
    assert found.ratio(0, 1, "throughput") == Figure(2.0, 2.0, 2.0, 1)


def test_what_is_no_number_is_not_there() -> None:
    assert [value_of({"throughput": one}, "throughput") for one in (math.nan, math.inf, True, "9", None)] == [None] * 5


def test_values_by_name() -> None:
    histogram = {"edges_ns": [1, 2, 4, 8], "counts": [0, 10, 0]}
    metrics = {"throughput": 5, "perf": {"cycles": 7.0}, "handover": histogram, "longest_wait": None}
    assert value_of(metrics, "throughput") == 5.0
    assert value_of(metrics, "perf.cycles") == 7.0
    assert value_of(metrics, "perf.misses") is None
    assert value_of(metrics, "longest_wait") is None
    assert value_of({"perf": {"unavailable": "no counters"}}, "perf.cycles") is None
    half = value_of(metrics, "handover.p50")
    assert half is not None
    assert 2 < half < 4
    assert percentile({"edges_ns": [1, 2], "counts": [0]}, 0.5) is None


# --- claims and targets ---


def verdict_on(name: str, found: Sequence[Results]) -> claims.Verdict:
    return next(one for one in claims.judge(found) if one.claim == name)


@pytest.mark.parametrize(
    ("twa", "expected"),
    [
        ([98, 99, 100], claims.REPRODUCED),
        ([50, 51, 52], claims.NOT_REPRODUCED),
        ([80, 91, 99], claims.NOT_DECIDABLE),  # on both sides of the bound
    ],
)
def test_a_claim_is_decided_by_the_median_and_the_quartiles(twa: list[float], expected: str) -> None:
    pair = [(point("twa", config="twa"), rates(*twa)), (point("ticket", config="twa"), rates(100, 100, 100))]
    verdict = verdict_on("TWA near ticket", [measured(pair)])
    assert verdict.verdict == expected
    assert "twa at 2 / ticket at 2" in verdict.measured


def test_what_a_machine_is_too_small_for_is_not_decidable() -> None:
    pair = [(point("mcs", 32, "twa"), rates(2)), (point("ticket", 32, "twa"), rates(1))]
    assert verdict_on("ticket collapses", [measured(pair, cpus=2)]).why == "needs 24 processors; there are 2"
    assert verdict_on("ticket collapses", [measured(pair, cpus=32)]).why == "fewer than 3 runs"
    often = [(where, 3 * runs) for where, runs in pair]
    assert verdict_on("ticket collapses", [measured(often, cpus=32)]).verdict == claims.REPRODUCED


def test_a_claim_about_each_number_of_threads_stops_at_the_processors() -> None:
    pairs = [
        (point(lock, threads, "twa"), rates(*[rate] * 3))
        for threads, twa in ((2, 2.0), (4, 0.5))
        for lock, rate in (("twa", twa), ("mcs", 1.0))
    ]
    small, large = (verdict_on("TWA at least MCS", [measured(pairs, cpus=cpus)]) for cpus in (2, 4))
    assert (small.verdict, "at 4" in small.measured) == (claims.REPRODUCED, False)
    assert (large.verdict, "at 4" in large.measured) == (claims.NOT_REPRODUCED, True)


@pytest.mark.parametrize("change", [{"options": {"critical": 3000}}, {"waiting": "park"}])
def test_other_parameters_than_the_papers_decide_nothing(change: dict[str, Any]) -> None:
    pair = [(point(lock, config="twa", **change), rates(9, 9, 9)) for lock in ("twa", "ticket")]
    assert verdict_on("TWA near ticket", [measured(pair)]).why.startswith("not measured")


def test_what_other_work_disturbed_decides_nothing_about_two_threads() -> None:
    pair = [
        (point("twa", config="twa"), rates(9, 9, 9, other_work=0.3)),
        (point("ticket", config="twa"), rates(9, 9, 9)),
    ]
    assert verdict_on("TWA near ticket", [measured(pair)]).why == "other work disturbed every run"


def test_what_was_not_measured_names_the_command() -> None:
    verdict = verdict_on("semaphores alike when few", [measured([(point("twa"), rates(1))])])
    assert verdict.verdict == claims.NOT_DECIDABLE
    assert "fairlock bench semaphore --config semabench --threads 1,2" in verdict.why
    verdict = verdict_on("TWA at least MCS", [measured([(point("twa"), rates(1))], cpus=8)])
    assert "fairlock bench mutex --config twa,maximum --threads 2,4,8" in verdict.why


def test_every_claim_can_be_measured_on_the_processors_that_it_needs() -> None:
    for claim in claims.CLAIMS:
        assert claim.command(claim.cpus).startswith("fairlock bench ")


def inside_leveldb(waiting: str) -> Results:
    """Two locks inside LevelDB, of which the papers' claim holds if they spin."""
    return measured(
        [
            (point(lock, config="readrandom", workload="leveldb", waiting=waiting), rates(9, 9, 9))
            for lock in ("hapax-vw", "mcs")
        ]
    )


def test_locks_inside_programs_decide_if_they_wait_as_in_the_papers() -> None:
    name = "HapaxVW in LevelDB"
    assert verdict_on(name, [inside_leveldb("spin")]).verdict == claims.REPRODUCED
    verdict = verdict_on(name, [inside_leveldb("spin-then-park")])
    assert verdict.why == "not measured: fairlock bench leveldb --config readrandom --threads 2 --waiting spin"


def test_rocksdbs_writer_needs_a_processor_too() -> None:
    pair = [
        (point(lock, config="readwhilewriting", workload="rocksdb"), rates(*[rate] * 3))
        for lock, rate in (("twa", 1), ("mcs", 2))
    ]
    small, large = (verdict_on("TWA in RocksDB", [measured(pair, cpus=cpus)]) for cpus in (2, 3))
    assert (small.measured, large.verdict) == ("", claims.NOT_REPRODUCED)


def test_claims_that_samples_call_undecidable() -> None:
    sample = {"throughput": 1.0, "decidable": False, "reason": "this libgcc takes no mutex"}
    found = measured([(point("pthread-mutex", n, "throw", "throw", waiting=None), [sample]) for n in (1, 2)])
    assert verdict_on("exceptions do not scale", [found]).why == "this libgcc takes no mutex"


def test_every_claim_has_a_verdict_and_a_name_of_its_own() -> None:
    verdicts = claims.judge([])
    assert len({one.claim for one in verdicts}) == len(claims.CLAIMS) >= 12
    assert all(one.verdict == claims.NOT_DECIDABLE and one.why for one in verdicts)


def test_the_price_of_order_is_no_rounded_number() -> None:
    speeds = {"fair": 14.0, "twa": 10.0, "pthread-mutex": 10.0, "pthread-mutex-pi": 8.0}
    found = measured(
        [
            (point(lock, 32, "oversubscribed", "oversubscribed", hogs=hogs), [{"throughput": rate, "fairness": 0.9}])
            for lock, rate in speeds.items()
            for hogs in (0, 2)
        ]
    )
    found.subjects = [{"name": name, "order": "fifo" if name == "twa" else None} for name in speeds]
    told = " ".join(short.advice(Table(found)))
    assert "Which one here: fair. With many threads it has 1.4 times the turns" in told
    assert "twa, with 1.2 times the turns of a pthread-mutex-pi" in told
    assert "but fair has 1.4 times as many" in told


def standing(lock: str, saturated: float, outside: float, fairness: float) -> list[tuple[Point, list[Metrics]]]:
    """Return a lock's results in all places of `short`: throughput where it is saturated, and with work outside."""
    return [
        *(
            (
                point(lock, 32, "oversubscribed", "oversubscribed", hogs=hogs),
                [{"throughput": saturated, "fairness": fairness}],
            )
            for hogs in (0, 2)
        ),
        *(
            (point(lock, threads, config, "outside"), [{"throughput": outside, "fairness": 1.0, "processors": 1.5}])
            for threads, config in ((2, "pair-100-100"), (32, "crowd-20-1000"))
        ),
    ]


def test_advice_counts_work_outside() -> None:
    usual = standing("pthread-mutex", 10, 10, 0.1)
    free = [(point("nolock", 2, "pair-100-100", "outside"), [{"throughput": 99.0, "fairness": 1.0}])]

    def told(*more: list[tuple[Point, list[Metrics]]]) -> str:
        return " ".join(short.advice(Table(measured([*usual, *free, *itertools.chain(*more)]))))

    assert "Which one here: fair." in told(standing("fair", 12, 9, 0.9), standing("twa", 20, 1, 1.0))
    assert "at least 0.90 times the turns" in told(standing("fair", 12, 9, 0.9), standing("twa", 20, 1, 1.0))
    assert "Which one here: pthread-mutex, as no other" in told(standing("twa", 20, 1, 1.0))
    assert "twa: 2.0 times the turns of a pthread-mutex with many threads, but 0.10 times with work outside" in told(
        standing("twa", 20, 1, 1.0)
    )
    assert "Which one here: pthread-mutex, as no other" in told(standing("hapax", 20, 20, 0.5))
    assert "nolock" not in told(standing("fair", 12, 9, 0.9))


def test_what_order_costs_with_work_outside() -> None:
    found = measured(
        [
            *standing("pthread-mutex", 10, 10, 0.1),
            *standing("pthread-mutex-pi", 5, 5, 0.9),
            *standing("fair", 14, 9, 0.9),
            *standing("twa", 10, 3, 1.0),
        ]
    )
    found.subjects = [{"name": "twa", "order": "fifo"}]
    told = " ".join(short.advice(Table(found)))
    assert "twa, with 2.0 times the turns of a pthread-mutex-pi" in told
    assert "fair has 1.4 times as many, and up to 3.0 times with work outside" in told


def test_targets() -> None:
    def crowd(lock: str, fairness: float, rate: float) -> tuple[Point, list[Metrics]]:
        place = point(lock, 32, "oversubscribed", "oversubscribed", waiting="spin-then-park")
        return place, [{"throughput": rate, "fairness": fairness, "longest_wait": 0.01}] * 3

    found = measured([crowd("fair", 0.95, 24), crowd("pthread-mutex", 0.1, 10), crowd("lifo", 0.5, 10)])
    judged = {(one.lock, one.what): one for one in targets.judge(found) if one.figure is not None}
    assert judged["fair", "x pthread-mutex"].verdict == "met"
    assert judged["fair", "slowest/fastest"].verdict == "met"
    assert judged["lifo", "slowest/fastest"].verdict == "MISSED"
    assert judged["fair", "x the longest wait of pthread-mutex"].in_doubt()  # exactly at the bound
    assert any(one.verdict == "not measured" for one in targets.judge(found))


# --- files ---


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    results.save(measured([(point("twa"), rates(1, 2)), (point("mcs"), rates(3, 4))]), path)
    return path


def test_what_is_saved_is_read_again(file: Path) -> None:
    found = results.load(file)
    again = file.with_name("again.json")
    results.save(found, again)
    assert again.read_text() == file.read_text()
    assert json.loads(file.read_text())["format"] == "fairlock-results"
    assert found.left() == []
    assert sorted(path.name for path in file.parent.iterdir()) == ["again.json", "r.json"]


def test_without_points_and_samples(tmp_path: Path) -> None:
    empty = measured([(point("twa"), rates(1))])
    empty.samples, empty.complete = [], False
    results.save(empty, tmp_path / "r.json")
    assert results.load(tmp_path / "r.json").left() == [(0, 0)]


def metrics_of(raw: dict[str, Any]) -> Metrics:
    found: Metrics = raw["samples"][0]["metrics"]
    return found


def edited(file: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    raw = json.loads(file.read_text())
    change(raw)
    file.write_text(json.dumps(raw))
    return file


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda raw: raw.update(version=2), "version 2 of the format, this fairlock reads version 1: update fairlock"),
        (lambda raw: raw.update(version=0), "version 0 of the format, this fairlock reads version 1: measure again"),
        (lambda raw: raw.pop("version"), "version None"),
        (lambda raw: raw.update(format="pyperf"), "no results file"),
        (lambda raw: raw.pop("plan"), "damaged: the file has no 'plan'"),
        (lambda raw: raw.pop("machine"), "damaged: the file has no 'machine'"),
        (lambda raw: raw["plan"]["points"][1].pop("lock"), "damaged: point 1 has no 'lock'"),
        (lambda raw: raw["plan"]["points"][0].update(threads="two"), "damaged: 'threads' of point 0 is \"two\""),
        (lambda raw: raw["plan"]["points"][0].update(threads=True), "damaged: 'threads' of point 0 is true"),
        (lambda raw: raw["plan"]["order"].append([9, 0]), "damaged: 'order' of the plan has [9, 0]"),
        (lambda raw: raw["machine"].update(cpus="two"), "damaged: 'cpus' of the machine is \"two\""),
        (lambda raw: raw["machine"].update(cpus=0), "damaged: 'cpus' of the machine is 0"),
        (lambda raw: metrics_of(raw).update(other_work="much"), "damaged: 'other_work' of the metrics of sample 0 is"),
        (lambda raw: metrics_of(raw).update(counts=[1, None]), "'counts' of the metrics of sample 0 has null"),
        (
            lambda raw: metrics_of(raw).update(waits={"edges_ns": [1]}),
            "'waits' of the metrics of sample 0 has no 'counts'",
        ),
        (lambda raw: metrics_of(raw).update(handover={"edges_ns": [1], "counts": [1]}), "has 1 edges and 1 counts"),
        (
            lambda raw: metrics_of(raw).update(rows=[{"lock": "twa"}]),
            "a row of the metrics of sample 0 has no 'loop_ns'",
        ),
        (lambda raw: raw["samples"][0].update(run=7), "damaged: sample 0 is of point 0 and run 7"),
        (lambda raw: raw.update(samples=[1]), "damaged: 'samples' of the file has something that is no object"),
    ],
)
def test_files_of_another_kind(file: Path, change: Callable[[dict[str, Any]], object], complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        results.load(edited(file, change))
    assert complaint in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", pytest.param("[" * 100_000, id="deep")])
def test_files_that_are_no_results(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="no results file"):
        results.load(path)


def test_unreadable_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(UsageError, match="cannot read"):
            results.load(path)
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="no results file"):
        results.load(tmp_path / "latin.json")


def test_a_file_that_cannot_be_written_stays_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, found = file.read_text(), results.load(file)
    found.complete = False

    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UsageError, match="No space left on device"):
        harness.keep(found, file)
    assert file.read_text() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]
