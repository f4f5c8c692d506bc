# SPDX-License-Identifier: Apache-2.0
"""Take the screenshots of a report that docs/how-to/read-a-report.md shows.

    python docs/screenshots.py RESULTS... [--folder docs/images]

The Python that runs this script must have fairlock and its lab installed. It also needs Chromium.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))

from browser import Browser, Page  # noqa: E402

LARGEST = 300_000  # bytes, for readers with slow connections
ALL_DRAWN = "document.documentElement.dataset.ready === 'yes'"


def show(page: Page, report: Path, width: int, *, dark: bool = False, phone: bool = False) -> None:
    page.size(width, 900, phone=phone)
    page.dark(dark)
    page.open(report)
    page.wait(ALL_DRAWN)


def top_of(page: Page, element: str) -> float:
    """Return the distance from the top of the page to an element, in pixels."""
    top = page.evaluate(f"document.querySelector({element!r}).getBoundingClientRect().top + scrollY")
    assert isinstance(top, int | float), f"the page has no {element}"
    return float(top)


def take(page: Page, path: Path, top: float, width: int, height: int) -> None:
    page.screenshot(path, top=top, width=width, height=height)
    size = path.stat().st_size
    print(f"{path}: {size // 1000} kB")
    if size > LARGEST:
        sys.exit(f"{path} is too large: more than {LARGEST // 1000} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS")
    parser.add_argument("--folder", type=Path, default=HERE / "images")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        report = Path(folder) / "report.html"
        program = Path(sys.executable).with_name("fairlock")
        subprocess.run([program, "report", *args.results, "--out", report], check=True, stdout=subprocess.DEVNULL)
        page = browser.page()
        show(page, report, 1180)
        take(page, args.folder / "report-light.png", 0, 1180, 1300)
        show(page, report, 1180, dark=True)
        take(page, args.folder / "report-dark.png", top_of(page, ".locks"), 1180, 1060)
        show(page, report, 390, phone=True)
        take(page, args.folder / "report-phone.png", top_of(page, ".locks"), 390, 1250)


if __name__ == "__main__":
    main()
