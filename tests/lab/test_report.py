# SPDX-License-Identifier: Apache-2.0
"""The report: words and verdicts for results made by hand, figures as files, and the page in a browser."""

from __future__ import annotations

import json
import os
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed: make test does")

import report_data
from conftest import Command

from fairlock_lab.benchmarks import measures as tables
from fairlock_lab.benchmarks.results import Point, Results, save
from fairlock_lab.reports import advice, compare, figures, measures, noise, style, summary
from fairlock_lab.reports.data import Source, groups_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import browser

LOCKS = ("twa", "hapax", "mcs", "pthread-mutex")


def source(results: Results, name: str = "new.json") -> Source:
    return Source(Path(name), results)


def contended(**speeds: float) -> tuple[list[Point], Callable[[Point], float]]:
    """Locks that contend at 1 and 2 threads on 4 processors, each with a throughput of its own."""
    named = {name.replace("_", "-"): speed for name, speed in speeds.items()}
    points = report_data.points_of("mutex", "maximum", locks=named, threads=(1, 2))
    return points, lambda point: named[point.lock]


# --- words ---


def words(results: Results) -> str:
    sources = [source(results)]
    groups = groups_of(sources)
    told = [one.text for one in advice.advice(groups)]
    told += [f"{win.contest.best}, {win.threads}: {win.words}" for win in summary.wins(groups)]
    return "\n".join([*told, *(f"{note.lead} {note.text}" for note in summary.notes(sources, groups))])


def test_a_clear_winner_is_named_with_how_much() -> None:
    points, shape = contended(twa=2e6, hapax=1.5e6, pthread_mutex=1e6)
    told = words(report_data.results(points, shape=shape, noise=0.01))
    number = r"\d\.\d\d \(\d\.\d\d to \d\.\d\d\) times"
    slowest = rf"take \*\*twa\*\*: its slowest thread got {number} the turns that it gets under pthread-mutex"
    assert re.search(rf"{slowest}, and all together got (1\.9|2\.0)\d \(1\.\d\d to 2\.\d\d\) times as many\.", told)
    assert re.search(r"^twa, 2: 1\.3\d \(1\.\d\d to 1\.\d\d\) times that of hapax$", told, re.MULTILINE)


def test_a_tie_is_too_close_to_call() -> None:
    points, shape = contended(twa=1e6, hapax=1.004e6, pthread_mutex=0.5e6)
    told = words(report_data.results(points, shape=shape, noise=0.03))
    assert re.search(r"(twa|hapax), 2: too close to call with (twa|hapax)$", told, re.MULTILINE)
    assert re.search(r"take \*\*(twa|hapax)\*\* \((twa|hapax): too close to call\)", told)


def test_the_usual_lock_is_kept_if_nothing_is_better() -> None:
    def even(_: Point, found: dict[str, Any], __: int) -> None:
        found.update(fairness=1.0, counts=[int(found["episodes"] / len(found["counts"]))] * len(found["counts"]))

    points, shape = contended(twa=1e6, pthread_mutex=1e6)
    told = words(report_data.results(points, shape=shape, noise=0.03, change=even))
    assert "**pthread-mutex** is as good as any (twa: too close to call)" in told


def test_what_starves_threads_is_not_recommended() -> None:
    points, shape = contended(tas=1.5e6, twa=1e6)
    told = words(report_data.results(points, shape=shape, noise=0.01))
    assert "take **twa**" in told
    assert re.search(r"tas had .* times the throughput of twa, but its slowest thread got only 0\.2", told)


def test_a_lock_is_not_judged_by_the_runs_in_which_it_starved_nobody() -> None:
    points, shape = contended(tas=1.5e6, twa=1e6)

    def starve(point: Point, found: dict[str, Any], run: int) -> None:
        if point.lock == "tas":
            found["counts"] = [9_000_000] * point.threads if run == 4 else [0] * point.threads

    told = words(report_data.results(points, shape=shape, noise=0.01, change=starve))
    assert "take **twa**" in told


def test_locks_that_have_no_calm_run_in_common() -> None:
    points, shape = contended(tas=3e6, twa=2e6, pthread_mutex=1e6)

    def disturb(point: Point, found: dict[str, Any], run: int) -> None:
        found["other_work"] = 0.5 if (run < 3) == (point.lock == "twa") else 0.0

    told = words(report_data.results(points, shape=shape, noise=0.01, runs=6, change=disturb))
    assert "take **twa**" in told
    assert "some got none" not in told


def test_if_all_starve_somebody_it_is_said() -> None:
    points, shape = contended(tas=2e6, tts=1e6)
    told = words(report_data.results(points, shape=shape, change=lambda _, found, __: found.update(counts=[0, 9])))
    assert "every lock left a thread without a turn; **tas** had the most in all" in told


def test_one_run_decides_nothing() -> None:
    points, shape = contended(twa=2e6, pthread_mutex=1e6)
    told = words(report_data.results(points, shape=shape, runs=1))
    assert "too few runs to be sure" in told
    assert "Few runs:" in told


def test_what_is_missing_is_said() -> None:
    points, shape = contended(twa=2e6, mcs=1e6)
    results = report_data.results(points, shape=shape)
    results.samples = [sample for sample in results.samples if points[sample.point].lock != "mcs"]
    results.complete = False
    told = words(results)
    assert "new.json has 10 of 20 samples; `fairlock bench --resume` goes on." in told
    assert "Without ck: not installed" in told
    assert "mcs" not in told


def test_disturbance_is_said_and_left_out() -> None:
    def busy(_: Point, found: dict[str, Any], run: int) -> None:
        if run < 2:
            found.update(other_work=0.5, throughput=1.0)

    points, shape = contended(twa=2e6, mcs=1e6)
    results = report_data.results(points, shape=shape, noise=0.01, change=busy)
    assert "Disturbed. In 8 of 20 samples" in words(results)
    (group,) = groups_of([source(results)])
    assert len(group.in_runs(0, "throughput")) == 3  # the calm ones
    always = report_data.results(points, change=lambda _, found, __: found.update(other_work=0.5))
    assert all(one.disturbed for one in advice.advice(groups_of([source(always)])))


def test_the_negative_control_must_be_caught() -> None:
    points = report_data.points_of("locktorture", "locktorture", locks=("twa", "broken"), threads=(1, 2))

    def control(point: Point, found: dict[str, Any], _: int) -> None:
        if point.lock == "broken":
            found.clear()
            found.update(caught=point.threads > 1 or caught, message="two threads were inside")

    caught = True
    assert "was caught 10 times, always" in words(report_data.results(points, change=control))
    caught = False
    assert "was not noticed in 5 of 10 samples" in words(report_data.results(points, change=control))


def test_work_without_a_lock_wins_nothing() -> None:
    points = [
        *report_data.points_of("outside", "pair-100-100", threads=(2,)),
        *report_data.points_of("outside", "crowd-20-1000", threads=(32,)),
    ]
    speeds = {"nolock": 9e6, "absl": 5e6, "fair": 3e6}
    results = report_data.results(points, shape=lambda point: speeds.get(point.lock, 1e6), noise=0.01)
    text = words(results)
    assert "take **fair**" in text
    assert "absl, 2:" in text  # it is faster, but not a lock of this project
    assert "nolock" not in text
    for group in groups_of([source(results)]):
        shown = figures.drawings(group)
        assert [one.name for one in shown if one.name.endswith("-processors")]
        assert "nolock" in json.dumps([one.spec for one in shown])  # drawn, as the limit
        assert not re.search("Best medians: [^.]*nolock", " ".join(one.alt for one in shown))


def test_processors_are_drawn_where_the_workload_lists_them() -> None:
    points, shape = contended(twa=2e6, pthread_mutex=1e6)
    (group,) = groups_of([source(report_data.results(points, shape=shape))])
    assert group.has("processors")
    assert not [one.name for one in figures.drawings(group) if "processors" in one.name]


# --- two files ---


def compared(shape: Callable[[Point], float], *, runs: int = 5, noise: float = 0.02, **more: Any) -> compare.Comparison:
    points = report_data.points_of("mutex", "maximum", locks=LOCKS, threads=(1, 2, 4, 8))
    old = report_data.results(points, runs=runs, noise=noise, seed=1)
    new = report_data.results(points, runs=runs, noise=noise, seed=2, shape=shape, **more)
    return compare.compare(source(old, "old.json"), source(new, "new.json"))


def test_a_regression_is_found_where_it_is() -> None:
    def slower(point: Point) -> float:
        return report_data.throughput(point) * (0.85 if point.lock == "twa" and point.threads == 4 else 1)

    found = compared(slower)
    (change,) = [change for change in found.changes if change.verdict != compare.NOISE]
    assert (change.point.lock, change.point.threads, change.verdict) == ("twa", 4, "slower")
    assert change.by.low < 0.85 < change.by.high < 1
    assert "1 slower" in found.words
    assert re.search(r"^slower +mutex maximum, 4 threads +twa +throughput", compare.show(found), re.MULTILINE)


@pytest.mark.parametrize("runs", [3, 5, 11])
def test_noise_is_no_regression(runs: int) -> None:
    found = compared(report_data.throughput, runs=runs, noise=0.1)
    assert {change.verdict for change in found.changes} == {compare.NOISE}
    assert found.words == "Nothing changed beyond the noise."


def test_two_runs_cannot_tell() -> None:
    found = compared(lambda point: report_data.throughput(point) / 2, runs=2)
    assert {change.verdict for change in found.changes} == {compare.UNKNOWN}
    assert "at least 3 runs" in found.words


def test_less_fairness_is_found() -> None:
    def unfair(point: Point, found: dict[str, Any], _: int) -> None:
        if point.lock == "hapax" and point.threads == 8:
            found["fairness"] *= 0.5

    found = compared(report_data.throughput, change=unfair)
    (change,) = [change for change in found.changes if change.verdict != compare.NOISE]
    assert (change.point.lock, change.measure, change.verdict) == ("hapax", "fairness", "less fair")


def test_less_time_is_faster() -> None:
    points = report_data.points_of("uncontended", "uncontended", locks=LOCKS, threads=(1,))
    old = report_data.results(points)
    new = report_data.results(points, seed=2, change=lambda _, found, __: found.update(ns=found["ns"] / 2))
    found = compare.compare(source(old), source(new))
    assert {change.verdict for change in found.changes} == {"faster"}


def test_another_machine_is_said() -> None:
    points, shape = contended(twa=2e6, pthread_mutex=1e6)
    old = report_data.results(points, shape=shape)
    new = report_data.results(points, shape=lambda point: 0.7 * shape(point), runs=4)
    new.machine["cpu"] = "Another 1"
    found = compare.compare(source(old), source(new))
    assert "machine: cpu Imaginary 9000 at 3 GHz, then Another 1" in found.differences
    assert "plan: runs 5, then 4" in found.differences
    assert "the machine may be the reason" in found.words  # what is not ours is slower too


def test_intervals_are_the_same_every_time_and_hold() -> None:
    one = noise.ratio([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], 0.05)
    assert one == noise.ratio([1.0, 1.1, 1.2], [2.0, 2.1, 2.2], 0.05)
    assert one is not None
    assert one.low < 0.52 < one.high
    assert noise.ratio([0.0], [1.0]) is None
    lucky = noise.ratio([1.0, 1.0, 1.0], [1.05, 1.05, 1.05], 0.1)  # agreed by chance: others beside them did not
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
    """WCAG's, from 1 to 21; figures need 3."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_measure_is_better_the_same_way_everywhere() -> None:
    for name, measure in measures.MEASURES.items():
        assert (measure.better or "") == tables.MEASURES[name].better, name


# --- the command ---


@pytest.fixture(scope="module")
def results_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    points = [
        *report_data.points_of("mutex", "maximum", locks=LOCKS, threads=(1, 2, 4, 8)),
        *report_data.points_of("handover", "handover", locks=LOCKS, threads=(2, 8)),
        *report_data.points_of(
            "collisions", "collisions", locks=("twa", "twa/slots-1", "twa/slots-4"), threads=(4, 16)
        ),
        *report_data.points_of("outside", "crowd-20-1000", threads=(32,)),
        *report_data.points_of("uncontended", "uncontended", locks=LOCKS, threads=(1,)),
        *report_data.points_of("overhead", "overhead", threads=(1,)),
    ]
    path = tmp_path_factory.mktemp("results") / "short.json"
    save(report_data.results(points, runs=3, workload="short"), path)
    return path


@pytest.fixture(scope="module")
def report(results_file: Path, fairlock: Command) -> Path:
    """A page, with its figures beside it."""
    page = results_file.with_name("report.html")
    done = fairlock("report", str(results_file), "--out", str(page), "--figures", str(page.with_name("figures")))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{page}: ")
    return page


def test_every_figure_is_a_valid_svg_and_png(report: Path) -> None:
    folder = report.with_name("figures")
    names = set(re.findall(r'data-figure="([^"]+)"', report.read_text()))
    assert {path.stem for path in folder.iterdir()} == names
    assert "mutex-maximum-throughput" in names
    for name in names:
        picture = ElementTree.parse(folder / f"{name}.svg").getroot()
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        assert picture.findall(".//{http://www.w3.org/2000/svg}path"), name
        content = (folder / f"{name}.png").read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        assert width > 300, name
        assert height > 100, name


def test_the_page_says_where_it_comes_from(report: Path) -> None:
    text = report.read_text()
    for part in (
        "Imaginary 9000 at 3 GHz",
        "fairlock bench short",
        "--from short.json",
        "Which lock should I use here?",
    ):
        assert part in text
    assert "What the papers report" in text
    assert "not reproduced" in text
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # Vega has templates of its own
    assert not re.search(r'(src|href)="(?!#|data:)', markup)


def test_two_files_are_compared(results_file: Path, tmp_path: Path, fairlock: Command) -> None:
    page = tmp_path / "report.html"
    done = fairlock("report", str(results_file), str(results_file), "--out", str(page))
    assert done.returncode == 0, done.stderr
    assert "Nothing changed beyond the noise." in done.stdout
    assert "short.json against short.json" in page.read_text()


def test_nothing_is_half_written(results_file: Path, tmp_path: Path, fairlock: Command) -> None:
    done = fairlock("report", str(results_file), "--out", str(tmp_path / "no" / "report.html"))
    assert done.returncode == 2
    assert done.stderr.startswith("fairlock: cannot write ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_results_and_devices_are_never_replaced(results_file: Path, tmp_path: Path, fairlock: Command) -> None:
    results, pipe = tmp_path / "r.json", tmp_path / "pipe"
    results.write_bytes(results_file.read_bytes())
    os.mkfifo(pipe)
    for out in (results, pipe, tmp_path, Path()):
        done = fairlock("report", str(results), "--out", str(out))
        assert done.returncode == 2
        assert done.stderr.startswith("fairlock: cannot write ")
        assert done.stderr.count("\n") == 1
    assert results.read_bytes() == results_file.read_bytes()
    assert pipe.is_fifo()


def test_a_link_stays_one(results_file: Path, tmp_path: Path, fairlock: Command) -> None:
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    link.symlink_to(page)
    assert fairlock("report", str(results_file), "--out", str(link)).returncode == 0
    assert link.is_symlink()
    assert page.read_text().startswith("<!doctype html>")


BAD = {
    "absent.json": None,
    "empty.json": "",
    "other.json": "{}",
    "older.json": json.dumps({"format": "fairlock-results", "version": 0}),
    "newer.json": json.dumps({"format": "fairlock-results", "version": 99}),
    "damaged.json": json.dumps({"format": "fairlock-results", "version": 1, "plan": []}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_one_clear_line(name: str, tmp_path: Path, fairlock: Command) -> None:
    path, content = tmp_path / name, BAD[name]
    if content is not None:
        path.write_text(content)
    done = fairlock("report", str(path), "--out", str(tmp_path / "report.html"))
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(rf"fairlock: [^\n]*{re.escape(name)}[^\n]*\n", done.stderr)
    assert not (tmp_path / "report.html").exists()


def test_results_without_samples_are_one_clear_line(tmp_path: Path, fairlock: Command) -> None:
    points, shape = contended(twa=1e6)
    results = report_data.results(points, shape=shape)
    results.samples.clear()
    save(results, tmp_path / "none.json")
    done = fairlock("report", str(tmp_path / "none.json"), "--out", str(tmp_path / "report.html"))
    assert (done.returncode, done.stderr) == (2, f"fairlock: there is no sample yet in {tmp_path / 'none.json'}\n")


def test_what_has_no_figure_is_on_the_page_in_words(tmp_path: Path, fairlock: Command) -> None:
    points, shape = contended(twa=1e6)

    def only_bytes(_: Point, found: dict[str, Any], __: int) -> None:
        found.clear()
        found["bytes"] = 112

    save(report_data.results(points, shape=shape, change=only_bytes), tmp_path / "memory.json")
    done = fairlock("report", str(tmp_path / "memory.json"), "--out", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr
    assert "bytes 112" in (tmp_path / "report.html").read_text()


def test_without_the_drawing_library_the_remedy_is_said(tmp_path: Path, python: Command) -> None:
    (tmp_path / "vl_convert.py").write_text("raise ImportError('no')")
    code = "import sys; from fairlock.cli import main; sys.exit(main(['report', 'some.json']))"
    done = python("-c", code)
    assert done.returncode == 2
    assert done.stderr == "fairlock: the report needs vl-convert-python: pip install 'fairlock[lab]'\n"


# --- in a browser ---

ALL_DRAWN = "document.documentElement.dataset.ready === 'yes'"
LINES = "document.querySelectorAll('#mutex-maximum figure.main .mark-line path').length"


@pytest.fixture(scope="module")
def chromium() -> Iterator[browser.Browser]:
    if browser.find() is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with browser.Browser() as opened:
        yield opened


@pytest.fixture
def page(chromium: browser.Browser, report: Path) -> browser.Page:
    """The page, on a wide screen, with everything drawn."""
    tab = chromium.page()
    tab.size(1280, 900)
    tab.dark(False)
    tab.open(report)
    tab.wait(ALL_DRAWN)
    return tab


def test_the_page_needs_no_network_and_draws_every_figure(page: browser.Page, report: Path) -> None:
    assert page.requests() == [report.resolve().as_uri()]
    assert page.complaints() == []
    empty = (
        "[...document.querySelectorAll('.plot')].filter((plot) => plot.clientWidth && !plot.querySelector('svg path'))"
    )
    assert page.evaluate(f"{empty}.map((plot) => plot.dataset.figure)") == []
    assert page.evaluate(LINES) == len(LOCKS)
    assert page.evaluate("document.querySelectorAll('.plot[aria-label]').length") > 5


def test_hovering_shows_what_a_point_is(page: browser.Page) -> None:
    point = "document.querySelector('#mutex-maximum figure.main .mark-symbol path[aria-label]')"
    page.evaluate(f"{point}.scrollIntoView({{block: 'center'}})")
    place = page.evaluate(
        f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({point}.getBoundingClientRect())"
    )
    page.hover(place[0] + 30, place[1] + 30)
    page.hover(*place)
    page.wait("document.querySelector('#vg-tooltip-element.visible') !== null", 10)
    told = page.evaluate("document.querySelector('#vg-tooltip-element').innerText")
    lock = "|".join(LOCKS)
    assert re.fullmatch(rf"lock\s+({lock})\s+threads\s+\d\s+median\s+\S+\s+quartiles\s+\S+ to \S+\s+runs\s+3\s*", told)


def test_switching_a_lock_off_hides_it_everywhere(page: browser.Page) -> None:
    labelled = "[...document.querySelectorAll('.plot svg [aria-label*=\"twa\"]')]"
    marks = f"{labelled}.filter((one) => !one.closest('.role-legend, .role-axis'))"
    assert page.evaluate(f"new Set({marks}.map((one) => one.closest('.plot').dataset.figure)).size") > 3
    page.evaluate("document.querySelector('.chips [data-lock=twa]').click()")
    page.wait(f"{LINES} === {len(LOCKS) - 1}", 10)
    page.wait(f"{marks}.length === 0", 10)
    assert page.evaluate("document.querySelector('.chips [data-lock=twa]').getAttribute('aria-pressed')") == "false"
    page.evaluate("document.querySelector('.chips .all').click()")
    page.wait(f"{LINES} === {len(LOCKS)}", 10)
    legend = "document.querySelector('#mutex-maximum figure.main .role-legend-label text')"
    page.evaluate(f"{legend}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    page.wait(f"{LINES} === {len(LOCKS) - 1}", 10)
    assert page.complaints() == []


def test_dark_mode_follows_the_system(page: browser.Page) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    text = "document.querySelector('#mutex-maximum .role-axis-label text').getAttribute('fill')"
    assert (page.evaluate(background), page.evaluate(text)) == ("rgb(251, 251, 250)", style.NEUTRAL["muted"][0])
    page.dark(True)
    page.wait(f"{text} === '{style.NEUTRAL['muted'][1]}'", 20)
    page.wait(ALL_DRAWN)
    assert page.evaluate(background) == "rgb(17, 20, 23)"
    twa = style.look("twa")
    assert page.evaluate(f"document.querySelectorAll('.plot svg [stroke=\"{twa.light}\"]').length") == 0
    assert page.evaluate(f"document.querySelectorAll('.plot svg [stroke=\"{twa.dark}\"]').length") > 0
    # Paper is white all the same, and the page is dark again afterwards.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(text) == style.NEUTRAL["muted"][0]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(text) == style.NEUTRAL["muted"][1]


def test_a_phone_shows_all_without_scrolling_sideways(chromium: browser.Browser, report: Path) -> None:
    tab = chromium.page()
    tab.size(390, 844, phone=True)
    tab.open(report)
    tab.wait(ALL_DRAWN)
    tab.evaluate("document.querySelectorAll('details.more').forEach((one) => one.open = true)")
    tab.wait(ALL_DRAWN)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    wide = "[...document.querySelectorAll('.plot svg.marks')].filter((one) => one.getBoundingClientRect().right > 390)"
    assert tab.evaluate(f"{wide}.map((one) => one.closest('.plot').dataset.figure)") == []
    assert tab.evaluate("document.querySelectorAll('#samples tbody tr').length") > 50
    assert tab.complaints() == []


def test_it_prints(page: browser.Page) -> None:
    assert page.pdf().startswith(b"%PDF-")
