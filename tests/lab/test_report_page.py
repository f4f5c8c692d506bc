# SPDX-License-Identifier: Apache-2.0
"""``fairlock report``: the page and its figures as files, wrong files, and the page in a browser."""

from __future__ import annotations

import json
import os
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed: make test does")

import browser
import report_data
from conftest import Command

from fairlock_lab.benchmarks.results import Point, save
from fairlock_lab.reports import style

LOCKS = ("twa", "hapax", "mcs", "pthread-mutex")


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
    """Make a page, and its figures as files."""
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


def test_a_page_that_cannot_be_written_leaves_nothing_behind(
    results_file: Path, tmp_path: Path, fairlock: Command
) -> None:
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


def test_a_symbolic_link_stays_a_link(results_file: Path, tmp_path: Path, fairlock: Command) -> None:
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
    results = report_data.results(report_data.points_of("mutex", "maximum", locks=("twa",), threads=(1, 2)))
    save(replace(results, samples=()), tmp_path / "none.json")
    done = fairlock("report", str(tmp_path / "none.json"), "--out", str(tmp_path / "report.html"))
    assert (done.returncode, done.stderr) == (2, f"fairlock: there is no sample yet in {tmp_path / 'none.json'}\n")


def test_a_metric_without_a_figure_is_on_the_page_in_words(tmp_path: Path, fairlock: Command) -> None:
    points = report_data.points_of("mutex", "maximum", locks=("twa",), threads=(1, 2))

    def only_bytes(_: Point, metrics: dict[str, Any], __: int) -> None:
        metrics.clear()
        metrics["bytes"] = 112

    save(report_data.results(points, change=only_bytes), tmp_path / "memory.json")
    done = fairlock("report", str(tmp_path / "memory.json"), "--out", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr
    assert "bytes 112" in (tmp_path / "report.html").read_text()


def test_the_remedy_without_the_drawing_library(tmp_path: Path, python: Command) -> None:
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
    """Open the page on a wide screen, and wait until every figure is drawn."""
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


def test_hovering_shows_the_numbers_of_a_point(page: browser.Page) -> None:
    point = "document.querySelector('#mutex-maximum figure.main .mark-symbol path[aria-label]')"
    page.evaluate(f"{point}.scrollIntoView({{block: 'center'}})")
    place = page.evaluate(
        f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({point}.getBoundingClientRect())"
    )
    page.hover(place[0] + 30, place[1] + 30)
    page.hover(*place)
    page.wait("document.querySelector('#vg-tooltip-element.visible') !== null", 10)
    text = page.evaluate("document.querySelector('#vg-tooltip-element').innerText")
    lock = "|".join(LOCKS)
    assert re.fullmatch(rf"lock\s+({lock})\s+threads\s+\d\s+median\s+\S+\s+quartiles\s+\S+ to \S+\s+runs\s+3\s*", text)


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
    # While the page is printed, its colours are light, because paper is white.
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


def test_the_page_can_be_printed(page: browser.Page) -> None:
    assert page.pdf().startswith(b"%PDF-")
