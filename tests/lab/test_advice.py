# SPDX-License-Identifier: Apache-2.0
"""The adviser: the table of ``fairlock bench short`` and the page of ``fairlock report`` give the same advice."""

from __future__ import annotations

import itertools
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import report_data
from results_data import Metrics, measured, point

from fairlock_lab.benchmarks.composites import SHORT
from fairlock_lab.benchmarks.lock_sets import NO_LOCK
from fairlock_lab.benchmarks.results import BenchResults, Point
from fairlock_lab.reports.advice import advice
from fairlock_lab.reports.data import Source, groups_of
from fairlock_lab.reports.sections import summary_section
from fairlock_lab.reports.short_table import advice_blocks

Samples = list[tuple[Point, list[Metrics]]]


def sentences(results: BenchResults) -> str:
    return " ".join(piece.text for piece in advice(groups_of([Source(Path("r.json"), results)])))


def saturated(lock: str, rate: float, fairness: float) -> Samples:
    return [
        (point(lock, 32, "oversubscribed", "oversubscribed", hogs=hogs), [{"throughput": rate, "fairness": fairness}])
        for hogs in (0, 2)
    ]


def everywhere(lock: str, rate: float, outside: float, fairness: float) -> Samples:
    """Return a lock's samples where it is saturated, and with work outside."""
    return [
        *saturated(lock, rate, fairness),
        *(
            (point(lock, threads, config, "outside"), [{"throughput": outside, "fairness": 1.0, "processors": 1.5}])
            for threads, config in ((2, "pair-100-100"), (32, "crowd-20-1000"))
        ),
    ]


def crowd_advice(*locks: Samples, **more: Any) -> str:
    free = [(point("nolock", 2, "pair-100-100", "outside"), [{"throughput": 99.0, "fairness": 1.0}])]
    text = sentences(measured([*itertools.chain(*locks), *free], **more))
    assert "nolock" not in text
    return text[text.index("With more threads than CPUs") :]


USUAL = everywhere("pthread-mutex", 10, 10, 0.1)


def test_a_lock_that_leaves_processors_idle_with_work_outside_is_not_advised() -> None:
    fair, twa = everywhere("fair", 12, 9, 0.9), everywhere("twa", 20, 1, 1.0)
    text = crowd_advice(USUAL, fair, twa)
    assert "use **fair**" in text
    assert "at least 0.90 times the throughput" in text
    text = crowd_advice(USUAL, twa)
    assert "use **pthread-mutex**: no other lock is both fair and fast enough with work outside the lock" in text
    assert "its slowest thread got only 0.10 of the fastest one's turns" in text
    assert "twa: 2.00 times the throughput of pthread-mutex where the lock is saturated, but 0.10 times" in text


def test_a_lock_that_is_slow_with_work_outside_in_another_place_is_not_advised() -> None:
    """The place with work outside has fewer locks than the saturated one."""
    locks = [
        *saturated("twa", 20, 1.0),
        *saturated("fair", 12, 0.9),
        *saturated("hapax", 11, 0.9),
        *saturated("pthread-mutex", 10, 0.1),
    ]
    slow = [
        (point(lock, 32, "crowd-20-1000", "outside"), [{"throughput": rate, "fairness": 1.0}])
        for lock, rate in (("twa", 1), ("pthread-mutex", 10))
    ]
    assert "use **fair**" in crowd_advice(locks, slow)


def test_a_lock_that_is_slow_on_a_busy_machine_is_not_better() -> None:
    quick_when_idle = everywhere("twa", 20, 10, 1.0)
    quick_when_idle[1][1][0]["throughput"] = 0.1  # beside hogs
    assert "use **fair**" in crowd_advice(USUAL, everywhere("fair", 12, 10, 0.9), quick_when_idle)


def test_an_unfair_lock_is_not_advised() -> None:
    assert "use **pthread-mutex**: no other lock" in crowd_advice(USUAL, everywhere("hapax", 20, 20, 0.5))


def test_the_price_of_strict_order() -> None:
    speeds = {"fair": 14.0, "twa": 10.0, "pthread-mutex": 10.0, "pthread-mutex-pi": 8.0}
    subjects = [{"name": name, "order": "fifo" if name == "twa" else None} for name in speeds]
    locks = [sample for lock, rate in speeds.items() for sample in saturated(lock, rate, 0.9)]
    text = sentences(measured(locks, subjects=subjects))
    assert "use **fair**" in text
    assert "all threads together got 1.40 times as many" in text
    assert "use twa, which has 1.25 times the throughput of a pthread-mutex-pi" in text
    assert "but fair has 1.40 times its throughput." in text


def test_strict_order_that_costs_nothing_has_no_price() -> None:
    text = crowd_advice(
        USUAL,
        everywhere("pthread-mutex-pi", 5, 5, 0.9),
        everywhere("fair", 14, 9, 0.9),
        everywhere("twa", 15, 10, 0.5),  # not even, so it is not the first choice
        subjects=[{"name": "twa", "order": "fifo"}],
    )
    assert "use **fair**" in text
    assert "use twa, which has 3.00 times the throughput of a pthread-mutex-pi" in text
    assert "times its throughput" not in text


def test_the_price_of_strict_order_with_work_outside() -> None:
    text = crowd_advice(
        USUAL,
        everywhere("pthread-mutex-pi", 5, 5, 0.9),
        everywhere("fair", 14, 9, 0.9),
        everywhere("twa", 10, 3, 1.0),
        subjects=[{"name": "twa", "order": "fifo"}],
    )
    assert "use twa, which has 2.00 times the throughput of a pthread-mutex-pi" in text
    assert "fair has 1.40 times its throughput, and up to 3.00 times with work outside" in text


@pytest.mark.parametrize("disturbed", [False, True])
def test_the_table_and_the_page_give_the_same_advice(disturbed: bool) -> None:
    points = [
        *report_data.points_of("outside", "pair-100-100", threads=(2,)),
        *report_data.points_of("outside", "crowd-20-1000", threads=(32,)),
        *report_data.points_of("oversubscribed", "oversubscribed", threads=(32,)),
    ]
    kept = {lock for piece in SHORT.pieces for lock in piece.locks} - {NO_LOCK}

    def disturb(_: Point, metrics: dict[str, Any], __: int) -> None:
        metrics["other_work"] = 0.5 if disturbed else 0.0

    results = report_data.results(
        [chosen for chosen in points if chosen.lock in kept], workload="short", change=disturb
    )
    sources = [Source(Path("r.json"), results)]
    groups = groups_of(sources)
    page = summary_section(sources, groups)
    on_page = re.findall(
        r"<p[^>]*>(.*?)(?:<span|</p>)",
        page[page.index('<div class="advice">') : page.index("</div>", page.index('<div class="advice">'))],
    )
    plain = [unescape(re.sub(r"<[^>]+>", "", text)) for text in on_page]
    heading, *in_table = [" ".join(str(block).split()) for block in advice_blocks(results)]
    assert heading == "Which lock should I use here?"
    assert in_table == plain
    assert len(in_table) >= 2 + disturbed
