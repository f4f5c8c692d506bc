# SPDX-License-Identifier: Apache-2.0
"""``fairlock_lab.benchmarks.library`` and ``fairlock_lab.reports.library``: the commands as functions."""

from __future__ import annotations

import dataclasses
import json
import pickle
import signal
from pathlib import Path
from typing import Any

import pytest
import report_data

import fairlock_lab
from fairlock_lab.benchmarks import harness, library, results
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.progress import BenchProgress
from fairlock_lab.errors import ArgumentError

SHORT: dict[str, Any] = {"config": "maximum", "locks": "twa", "threads": 2, "seconds": 0.02, "references": False}


def test_results_are_what_the_file_has(tmp_path: Path) -> None:
    measured = library.bench("mutex", **SHORT, runs=2, seed=7, file=tmp_path / "r.json")
    assert measured.complete
    assert [point.label for point in measured.plan.points] == ["twa (spin)"]
    raw = json.loads((tmp_path / "r.json").read_text())
    assert raw == json.loads(json.dumps(measured.to_dict()))
    assert raw["command"][:6] == ["bench", "mutex", "--config", "maximum", "--locks", "twa"]
    assert results.load(tmp_path / "r.json").to_dict() == measured.to_dict()
    with pytest.raises(dataclasses.FrozenInstanceError):
        measured.samples = ()  # type: ignore[misc]


def test_results_show_their_tables() -> None:
    measured = library.bench("mutex", **SHORT, runs=1)
    assert "MutexBench" in str(measured)
    assert "twa (spin)" in str(measured)
    html = measured._repr_html_()
    assert "<td>twa (spin)" in html
    assert html.count("<table>") == html.count("</table>") == 1


def test_names_are_lists_or_text() -> None:
    listed = library.request.Request("mutex", locks=["twa", "mcs"], threads=[1, 2], options={"timed": True})
    written = library.request.Request("mutex", locks="twa,mcs", threads="1,2", options=["timed=yes"])
    assert listed.command(None) == written.command(None)
    first, second = listed.new_results().plan, written.new_results().plan
    assert (first.points, first.runs) == (second.points, second.runs)


def test_progress_is_reported_before_each_sample_and_at_the_end() -> None:
    reports: list[BenchProgress] = []
    library.bench("mutex", **SHORT, runs=3, progress=reports.append)
    assert [report.done for report in reports] == [0, 1, 2, 3]
    assert [report.point for report in reports] == ["mutex maximum: twa (spin), 2 threads"] * 3 + [None]
    assert {report.samples for report in reports} == {3}


def test_an_interruption_keeps_the_samples_and_resume_takes_the_others(tmp_path: Path) -> None:
    def interrupt(report: BenchProgress) -> None:
        if report.done == 2:
            raise KeyboardInterrupt

    path = tmp_path / "r.json"
    with pytest.raises(KeyboardInterrupt) as caught:
        library.bench("mutex", **SHORT, runs=3, file=path, progress=interrupt)
    assert isinstance(caught.value, fairlock_lab.BenchInterrupted)
    assert str(caught.value) == "2 of 3 samples are taken"
    kept = caught.value.results
    assert pickle.loads(pickle.dumps(caught.value)).results == kept
    assert (len(kept.samples), kept.complete) == (2, False)
    assert results.load(path) == kept
    complete = library.resume(path)
    assert complete.complete
    assert list(complete.samples[:2]) == list(kept.samples)
    again = library.repeat(path)
    assert again.plan == complete.plan
    assert again.samples != complete.samples


def test_a_second_ctrl_c_keeps_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save_late(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        usual_save(*arguments)

    def interrupt(report: BenchProgress) -> None:
        if report.done == 1:
            monkeypatch.setattr(harness, "save", save_late)
            signal.raise_signal(signal.SIGINT)

    usual_save = harness.save
    path = tmp_path / "r.json"
    with pytest.raises(fairlock_lab.BenchInterrupted) as caught:
        library.bench("mutex", **SHORT, runs=3, file=path, progress=interrupt)
    assert results.load(path) == caught.value.results


def test_a_failed_sample_keeps_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def second_fails(*_: object) -> results.Metrics:
        calls.append(1)
        if len(calls) == 2:
            raise SampleError("it failed")
        return {"throughput": 1.0}

    monkeypatch.setattr(harness, "measure", second_fails)
    with pytest.raises(harness.FailedRunError, match="it failed") as caught:
        library.bench("mutex", **SHORT, runs=3)
    assert len(caught.value.results.samples) == 1
    sent = pickle.loads(pickle.dumps(caught.value))
    assert (str(sent), sent.results) == (str(caught.value), caught.value.results)


def test_results_are_represented_in_one_line() -> None:
    measured = report_data.results(report_data.points_of("mutex", "maximum", locks=("twa",), threads=(1,)), runs=3)
    assert repr(measured) == "<BenchResults of mutex: 3 of 3 samples>"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"workload": "mutexx"}, "unknown workload 'mutexx' (did you mean mutex?); choose from: short, "),
        ({"workload": "mutex", "locks": ["tva"]}, "unknown lock 'tva' (did you mean twa?); choose from: "),
        ({"workload": "mutex", "waiting": "sleep"}, "unknown waiting policy 'sleep'"),
        ({"workload": "mutex", "threads": 0}, "threads: choose numbers from 1 to "),
        ({"workload": "mutex", "runs": 0}, "runs: choose a number from 1 to 1000, not 0"),
        ({"workload": "mutex", "options": {"critical": -1}}, "option critical: choose a number from 0"),
        ({"workload": 5}, "unknown workload 5; choose from: short, "),
        ({"workload": "mutex", "config": 5}, "config: pass text, or a list of text, not 5"),
        ({"workload": "mutex", "locks": [None]}, "locks: pass text, or a list of text, not (None,)"),
        ({"workload": "mutex", "options": 5}, "options: pass text, or a list of text, not 5"),
        ({"workload": "mutex", "options": "critical=x"}, "option critical: choose a number from 0"),
        ({"workload": "mutex", "threads": 1.5}, "threads: choose numbers from 1 to "),
        ({"workload": "mutex", "runs": 1.5}, "runs: choose a number from 1 to 1000, not 1.5"),
        ({"workload": "mutex", "seconds": "1"}, "seconds: choose a number from 0.001 to 3600, not '1'"),
        ({"workload": "mutex", "hogs": True}, "hogs: choose a number from 0 to 64, not True"),
        ({"workload": "mutex", "seed": 0.5}, "seed: choose a number from 0 to 9223372036854775807, not 0.5"),
        ({"workload": "mutex", "file": 5}, "file: name a file, not 5"),
        ({"workload": "mutex", "progress": 5}, "progress: pass a function or None, not 5"),
    ],
)
def test_a_wrong_argument_raises_one_line(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        library.bench(**arguments)
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_a_report_of_results_and_of_files(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    from fairlock_lab.reports.library import report

    points = report_data.points_of("mutex", "maximum", locks=("twa", "pthread-mutex"), threads=(1, 2))
    measured = report_data.results(points, runs=3)
    single = report(measured)
    assert single.comparison is None
    assert single.page.startswith("<!doctype html>")
    assert single._repr_html_().startswith("<iframe")
    assert json.loads(json.dumps(single.to_dict()))["advice"]
    assert "**" not in str(single)
    results.save(measured, tmp_path / "a.json")
    two = report([tmp_path / "a.json", measured], out=tmp_path / "page.html", figures=tmp_path / "figures")
    assert two.comparison is not None
    assert "Nothing changed beyond the noise." in str(two)
    assert (tmp_path / "page.html").read_text() == two.page
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {figure.name for figure in two.figures}
    assert repr(single) == f"<Report of results.json: {len(single.figures)} figures>"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"results": []}, "there are no results to report: name at least one file"),
        ({"results": 5}, "results: name a file, not 5"),
        ({"results": [None]}, "results: name a file, not None"),
        ({"results": "no/such/file"}, "cannot read no/such/file: "),
        ({"results": "/dev/zero"}, "/dev/zero is not a results file of `fairlock bench`: it is a device"),
        ({"results": "r.json", "out": 5}, "out: name a file, not 5"),
        ({"results": "r.json", "out": "no/such/page.html"}, "cannot write no/such/page.html: there is no folder "),
    ],
)
def test_a_wrong_argument_of_a_report_raises_one_line(arguments: dict[str, Any], complaint: str) -> None:
    pytest.importorskip("vl_convert")
    with pytest.raises(ArgumentError) as caught:
        fairlock_lab.report(**arguments)
    assert str(caught.value).startswith(complaint)
    assert isinstance(caught.value, ValueError)
