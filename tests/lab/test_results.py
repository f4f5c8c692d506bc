# SPDX-License-Identifier: Apache-2.0
"""Results files, and the figures that are computed from samples: medians, and ratios within a run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from results_data import Metrics, measured, point, rates

from fairlock.usage import UsageError
from fairlock_lab.benchmarks import results
from fairlock_lab.benchmarks.figures import Figure, Table, percentile, value_of

# --- figures ---


def test_median_and_quartiles() -> None:
    assert Figure.of([3.0, 1.0, 2.0, 4.0, 5.0]) == Figure(3.0, 2.0, 4.0, 5)
    assert Figure.of([7.0]) == Figure(7.0, 7.0, 7.0, 1)
    assert Figure.of([1.0, math.inf, math.inf]).median == math.inf
    assert Figure.of([3.0, 1.0, 2.0, 4.0, 5.0]).spread == pytest.approx(2 / 3)


def test_a_ratio_is_taken_within_a_run() -> None:
    # In the second run, the machine was ten times slower for both.
    table = Table(measured([(point("twa"), rates(20, 2, 22)), (point("mcs"), rates(10, 1, 11))]))
    assert table.ratio(0, 1, "throughput") == Figure(2.0, 2.0, 2.0, 3)


def test_disturbed_runs_do_not_count_unless_there_are_no_others() -> None:
    disturbed = [*rates(1000, other_work=0.5), *rates(20, 24)]
    table = Table(measured([(point("twa"), disturbed), (point("mcs"), rates(8, 8, 8))]))
    assert table.figure(0, "throughput") == Figure(22.0, 21.0, 23.0, 2)
    assert table.ratio(0, 1, "throughput") == Figure(2.75, 2.625, 2.875, 2)
    assert not table.disturbed(0)
    nothing_else = Table(measured([(point("twa"), rates(5, 7, other_work=0.9))]))
    assert nothing_else.figure(0, "throughput") == Figure(6.0, 5.5, 6.5, 2)
    assert nothing_else.disturbed(0)


def test_a_run_that_only_one_point_has_gives_no_ratio() -> None:
    table = Table(measured([(point("twa"), rates(20, 2)), (point("mcs"), rates(10))]))
    assert table.ratio(0, 1, "throughput") == Figure(2.0, 2.0, 2.0, 1)


def test_a_value_that_is_not_a_number_counts_as_missing() -> None:
    values = (math.nan, math.inf, 10**400, True, "9", None)
    assert [value_of({"throughput": value}, "throughput") for value in values] == [None] * len(values)


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


# --- files ---


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    results.save(measured([(point("twa"), rates(1, 2)), (point("mcs"), rates(3, 4))]), path)
    return path


def test_saved_results_are_read_again(file: Path) -> None:
    loaded = results.load(file)
    again = file.with_name("again.json")
    results.save(loaded, again)
    assert again.read_text() == file.read_text()
    assert json.loads(file.read_text())["format"] == "fairlock-results"
    assert loaded.remaining == []
    assert sorted(path.name for path in file.parent.iterdir()) == ["again.json", "r.json"]


def test_without_points_and_samples(tmp_path: Path) -> None:
    empty = measured([(point("twa"), rates(1))])
    results.save(replace(empty, samples=()), tmp_path / "r.json")
    assert results.load(tmp_path / "r.json").remaining == [(0, 0)]


def metrics_of(raw: dict[str, Any]) -> Metrics:
    metrics: Metrics = raw["samples"][0]["metrics"]
    return metrics


def edit_file(file: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    raw = json.loads(file.read_text())
    change(raw)
    file.write_text(json.dumps(raw))
    return file


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda raw: raw.update(version=2), "version 2 of the format; this fairlock reads version 1: update fairlock"),
        (lambda raw: raw.update(version=0), "version 0 of the format; this fairlock reads version 1: measure again"),
        (lambda raw: raw.pop("version"), "version None"),
        (lambda raw: raw.update(format="pyperf"), "is not a results file"),
        (lambda raw: raw.pop("plan"), "damaged: the file has no 'plan'"),
        (lambda raw: raw.pop("machine"), "damaged: the file has no 'machine'"),
        (lambda raw: raw["plan"]["points"][1].pop("lock"), "damaged: point 1 has no 'lock'"),
        (lambda raw: raw["plan"]["points"][0].update(threads="two"), "damaged: 'threads' of point 0 is \"two\""),
        (lambda raw: raw["plan"]["points"][0].update(threads=True), "damaged: 'threads' of point 0 is true"),
        (lambda raw: raw["plan"]["points"][0].update(seconds=1e300), "damaged: 'seconds' of point 0 is 1e+300"),
        (lambda raw: raw["plan"]["points"][0].update(options={"a": [1]}), "damaged: option 'a' of point 0 is [1]"),
        (lambda raw: raw["plan"].update(warm_up=float("inf")), "damaged: 'warm_up' of the plan is Infinity"),
        (lambda raw: raw.update(version="1\n2"), r"version 1\n2 of the format"),
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
        (lambda raw: raw.update(samples=[1]), "damaged: 'samples' of the file has an element that is not an object"),
    ],
)
def test_files_that_cannot_be_read_name_the_reason(
    file: Path, change: Callable[[dict[str, Any]], object], complaint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        results.load(edit_file(file, change))
    assert complaint in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", pytest.param("[" * 100_000, id="deep")])
def test_files_that_are_not_results(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="is not a results file"):
        results.load(path)


def test_unreadable_files(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(UsageError, match="cannot read"):
            results.load(path)
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not a results file"):
        results.load(tmp_path / "latin.json")


def test_a_file_that_cannot_be_written_stays_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, loaded = file.read_text(), results.load(file)

    def raise_disk_full(self: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", raise_disk_full)
    with pytest.raises(UsageError, match="No space left on device"):
        results.save(replace(loaded, samples=()), file)
    assert file.read_text() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]
