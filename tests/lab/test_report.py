# SPDX-License-Identifier: Apache-2.0
"""The words of a report: winners, notes, and comparisons, for made-up results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import report_data

from fairlock_lab.benchmarks import measures as benchmark_measures
from fairlock_lab.benchmarks.results import BenchResults, Point
from fairlock_lab.reports import advice, compare, figures, measures, noise, style, summary
from fairlock_lab.reports.data import Source, groups_of
from fairlock_lab.reports.parts import y_values

LOCKS = ("twa", "hapax", "mcs", "pthread-mutex")


def source(results: BenchResults, name: str = "new.json") -> Source:
    return Source(Path(name), results)


def contended(**speeds: float) -> tuple[list[Point], Callable[[Point], float]]:
    """Return locks that contend with 1 and 2 threads on 4 processors, and the throughput of each."""
    named = {name.replace("_", "-"): speed for name, speed in speeds.items()}
    points = report_data.points_of("mutex", "maximum", locks=named, threads=(1, 2))
    return points, lambda point: named[point.lock]


# --- words ---


def words(results: BenchResults) -> str:
    sources = [source(results)]
    groups = groups_of(sources)
    lines = [piece.text for piece in advice.advice(groups)]
    lines += [f"{win.contest.best}, {win.threads}: {win.words}" for win in summary.wins(groups)]
    return "\n".join([*lines, *(f"{note.lead} {note.text}" for note in summary.notes(sources, groups))])


def test_a_clear_winner_is_named_with_how_much() -> None:
    points, shape = contended(twa=2e6, hapax=1.5e6, pthread_mutex=1e6)
    text = words(report_data.results(points, shape=shape, noise=0.01))
    number = r"\d\.\d\d \(\d\.\d\d to \d\.\d\d\) times"
    slowest = rf"use \*\*twa\*\*: its slowest thread got {number} the turns that it gets under pthread-mutex"
    assert re.search(
        rf"{slowest}, and all threads together got (1\.9|2\.0)\d \(1\.\d\d to 2\.\d\d\) times as many\.", text
    )
    assert re.search(r"^twa, 2: 1\.3\d \(1\.\d\d to 1\.\d\d\) times that of hapax$", text, re.MULTILINE)


def test_a_tie_is_too_close_to_call() -> None:
    points, shape = contended(twa=1e6, hapax=1.004e6, pthread_mutex=0.5e6)
    text = words(report_data.results(points, shape=shape, noise=0.03))
    assert re.search(r"(twa|hapax), 2: too close to call with (twa|hapax)$", text, re.MULTILINE)
    assert re.search(r"use \*\*(twa|hapax)\*\* \((twa|hapax): too close to call\)", text)


def test_the_usual_lock_is_kept_if_nothing_is_better() -> None:
    def make_even(_: Point, metrics: dict[str, Any], __: int) -> None:
        metrics.update(
            fairness=1.0, counts=[int(metrics["episodes"] / len(metrics["counts"]))] * len(metrics["counts"])
        )

    points, shape = contended(twa=1e6, pthread_mutex=1e6)
    text = words(report_data.results(points, shape=shape, noise=0.03, change=make_even))
    assert "**pthread-mutex** is as good as any (twa: too close to call)" in text


def test_a_lock_that_starves_threads_is_not_advised() -> None:
    points, shape = contended(tas=1.5e6, twa=1e6)
    text = words(report_data.results(points, shape=shape, noise=0.01))
    assert "use **twa**" in text
    assert re.search(r"tas had .* times the throughput of twa, but its slowest thread got only 0\.2", text)


def test_a_lock_is_not_judged_by_the_runs_in_which_it_starved_no_thread() -> None:
    points, shape = contended(tas=1.5e6, twa=1e6)

    def starve(point: Point, metrics: dict[str, Any], run: int) -> None:
        if point.lock == "tas":
            metrics["counts"] = [9_000_000] * point.threads if run == 4 else [0] * point.threads

    text = words(report_data.results(points, shape=shape, noise=0.01, change=starve))
    assert "use **twa**" in text


def test_locks_that_have_no_calm_run_in_common() -> None:
    points, shape = contended(tas=3e6, twa=2e6, pthread_mutex=1e6)

    def disturb(point: Point, metrics: dict[str, Any], run: int) -> None:
        metrics["other_work"] = 0.5 if (run < 3) == (point.lock == "twa") else 0.0

    text = words(report_data.results(points, shape=shape, noise=0.01, runs=6, change=disturb))
    assert "use **twa**" in text
    assert "some threads got none" not in text


def test_a_report_says_if_every_lock_starves_a_thread() -> None:
    points, shape = contended(tas=2e6, tts=1e6)
    text = words(report_data.results(points, shape=shape, change=lambda _, metrics, __: metrics.update(counts=[0, 9])))
    assert "every lock left a thread without a turn; **tas** had the most turns in all" in text


def test_one_run_decides_nothing() -> None:
    points, shape = contended(twa=2e6, pthread_mutex=1e6)
    text = words(report_data.results(points, shape=shape, runs=1))
    assert "too few runs to be sure" in text
    assert "Few runs:" in text


def test_a_report_names_what_is_missing() -> None:
    points, shape = contended(twa=2e6, mcs=1e6)
    results = report_data.results(points, shape=shape)
    results = replace(
        results, samples=tuple(sample for sample in results.samples if points[sample.point].lock != "mcs")
    )
    text = words(results)
    assert "new.json has 10 of 20 samples; `fairlock bench --resume` takes the others." in text
    assert "Without ck: not installed" in text
    assert "mcs" not in text


def test_a_report_names_disturbed_samples_and_leaves_them_out() -> None:
    def add_other_work(_: Point, metrics: dict[str, Any], run: int) -> None:
        if run < 2:
            metrics.update(other_work=0.5, throughput=1.0)

    points, shape = contended(twa=2e6, mcs=1e6)
    results = report_data.results(points, shape=shape, noise=0.01, change=add_other_work)
    assert "Disturbed. Other work took more than 10% of the processors' time in 8 of 20 samples." in words(results)
    (group,) = groups_of([source(results)])
    assert len(group.in_runs(0, "throughput")) == 3  # the calm ones
    always = report_data.results(points, change=lambda _, metrics, __: metrics.update(other_work=0.5))
    assert all(piece.disturbed for piece in advice.advice(groups_of([source(always)])))


def test_the_negative_control_must_be_caught() -> None:
    points = report_data.points_of("locktorture", "locktorture", locks=("twa", "broken"), threads=(1, 2))

    def control(point: Point, metrics: dict[str, Any], _: int) -> None:
        if point.lock == "broken":
            metrics.clear()
            metrics.update(caught=point.threads > 1 or caught, message="two threads were inside")

    caught = True
    assert "was caught in all 10 samples" in words(report_data.results(points, change=control))
    caught = False
    assert "was not caught in 5 of 10 samples" in words(report_data.results(points, change=control))


def test_work_without_a_lock_wins_nothing() -> None:
    points = [
        *report_data.points_of("outside", "pair-100-100", threads=(2,)),
        *report_data.points_of("outside", "crowd-20-1000", threads=(32,)),
    ]
    speeds = {"nolock": 9e6, "absl": 5e6, "fair": 3e6}
    results = report_data.results(points, shape=lambda point: speeds.get(point.lock, 1e6), noise=0.01)
    text = words(results)
    assert "use **fair**" in text
    assert "absl, 2:" in text  # it is faster, but it belongs to another library
    assert "nolock" not in text
    for group in groups_of([source(results)]):
        shown = figures.drawings(group)
        assert [drawing.name for drawing in shown if drawing.name.endswith("-processors")]
        assert "nolock" in json.dumps([drawing.spec for drawing in shown])  # drawn, as the limit
        assert not re.search("Best medians: [^.]*nolock", " ".join(drawing.alt for drawing in shown))


@pytest.mark.parametrize(
    ("workload", "config", "words"),
    [
        ("mutex", "capacitor", "Both axes are logarithmic, as in the paper."),
        ("semaphore", "semabench", "In the paper, only the axis of throughput is."),
    ],
)
def test_a_page_says_how_its_axes_differ_from_the_papers(workload: str, config: str, words: str) -> None:
    measured = report_data.results(report_data.points_of(workload, config, threads=(1, 2)), runs=3)
    (group,) = groups_of([source(measured)])
    _, why = y_values(group, measures.MEASURES["throughput"], [{"value": 1.0}, {"value": 2.0}])
    assert why.endswith(words)


def test_processors_are_drawn_where_the_workload_lists_them() -> None:
    points, shape = contended(twa=2e6, pthread_mutex=1e6)
    (group,) = groups_of([source(report_data.results(points, shape=shape))])
    assert group.has("processors")
    assert not [drawing.name for drawing in figures.drawings(group) if "processors" in drawing.name]


# --- two files ---


def compared(shape: Callable[[Point], float], *, runs: int = 5, noise: float = 0.02, **more: Any) -> compare.Comparison:
    points = report_data.points_of("mutex", "maximum", locks=LOCKS, threads=(1, 2, 4, 8))
    old = report_data.results(points, runs=runs, noise=noise, seed=1)
    new = report_data.results(points, runs=runs, noise=noise, seed=2, shape=shape, **more)
    return compare.compare(source(old, "old.json"), source(new, "new.json"))


def test_a_regression_is_reported_where_it_is() -> None:
    def slow_down(point: Point) -> float:
        return report_data.throughput(point) * (0.85 if point.lock == "twa" and point.threads == 4 else 1)

    comparison = compared(slow_down)
    (change,) = [change for change in comparison.changes if change.verdict != compare.NOISE]
    assert (change.point.lock, change.point.threads, change.verdict) == ("twa", 4, "slower")
    assert change.by.low < 0.85 < change.by.high < 1
    assert "1 slower" in comparison.words
    assert re.search(r"^slower +mutex maximum, 4 threads +twa +throughput", compare.show(comparison), re.MULTILINE)


@pytest.mark.parametrize("runs", [3, 5, 11])
def test_noise_is_no_regression(runs: int) -> None:
    comparison = compared(report_data.throughput, runs=runs, noise=0.1)
    assert {change.verdict for change in comparison.changes} == {compare.NOISE}
    assert comparison.words == "Nothing changed beyond the noise."


def test_two_runs_cannot_tell() -> None:
    comparison = compared(lambda point: report_data.throughput(point) / 2, runs=2)
    assert {change.verdict for change in comparison.changes} == {compare.UNKNOWN}
    assert "at least 3 runs" in comparison.words


def test_less_fairness_is_reported() -> None:
    def make_unfair(point: Point, metrics: dict[str, Any], _: int) -> None:
        if point.lock == "hapax" and point.threads == 8:
            metrics["fairness"] *= 0.5

    comparison = compared(report_data.throughput, change=make_unfair)
    (change,) = [change for change in comparison.changes if change.verdict != compare.NOISE]
    assert (change.point.lock, change.measure, change.verdict) == ("hapax", "fairness", "less fair")


def test_less_time_is_faster() -> None:
    points = report_data.points_of("uncontended", "uncontended", locks=LOCKS, threads=(1,))
    old = report_data.results(points)
    new = report_data.results(points, seed=2, change=lambda _, metrics, __: metrics.update(ns=metrics["ns"] / 2))
    comparison = compare.compare(source(old), source(new))
    assert {change.verdict for change in comparison.changes} == {"faster"}


def test_a_comparison_names_a_different_machine() -> None:
    points, shape = contended(twa=2e6, pthread_mutex=1e6)
    old = report_data.results(points, shape=shape)
    new = report_data.results(points, shape=lambda point: 0.7 * shape(point), runs=4, machine={"cpu": "Another 1"})
    comparison = compare.compare(source(old), source(new))
    assert "machine: cpu Imaginary 9000 at 3 GHz, then Another 1" in comparison.differences
    assert "plan: runs 5, then 4" in comparison.differences
    assert "the machine or the compiler may be the reason" in comparison.words  # pthread-mutex is slower too


def test_intervals_are_the_same_every_time_and_hold() -> None:
    interval = noise.ratio([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], 0.05)
    assert interval == noise.ratio([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], 0.05)
    assert interval is not None
    assert interval.low < 0.52 < interval.high
    assert noise.ratio([0.0], [1.0]) is None
    lucky = noise.ratio([1.0, 1.0, 1.0], [1.05, 1.05, 1.05], 0.1)  # these runs agree by chance: their neighbours do not
    assert lucky is not None
    assert not lucky.below(1)


# --- how it looks ---


def test_colours_are_stable_and_paired() -> None:
    assert style.look("twa") == style.look("twa")
    assert style.look("ck-ticket").light == style.look("ticket").light
    assert style.look("ck-ticket").dash != style.look("ticket").dash
    assert style.look("never heard of").family == "other"
    lights = [light for family in style.FAMILIES for light in family.light]
    assert len(set(lights)) == len(lights)
    assert min(contrast(light, "#ffffff") for light in lights) >= 3
    assert min(contrast(dark, "#171b1f") for dark in style.dark_colours().values()) >= 3


def contrast(one: str, other: str) -> float:
    """Return the contrast as WCAG defines it, from 1 to 21. Figures need 3."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_measure_is_better_the_same_way_everywhere() -> None:
    for name, measure in measures.MEASURES.items():
        assert (measure.better or "") == benchmark_measures.MEASURES[name].better, name
