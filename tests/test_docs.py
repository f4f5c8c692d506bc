# SPDX-License-Identifier: Apache-2.0
"""The documentation builds without a warning, and has an entry for each public name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import processes
import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed: make test does")

from sphinx.util.inventory import InventoryFile

import fairlock

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "--doctree-dir",
        folder / "doctrees",
        ROOT / "docs",
        folder / "html",
    ]
    # The program and not the module: in the clone, the sources would hide the installed package.
    program = Path(sys.executable).with_name("sphinx-build")
    done = processes.run([program, *build], timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.mark.slow
def test_every_public_name_is_documented(site: Path) -> None:
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    documented = {name for kind in inventory.data.values() for name in kind}
    missing = [name for name in fairlock.__all__ if f"fairlock.{name}" not in documented]
    assert not missing, f"write a page for each in docs/api, and name it in docs/api/index.md: {missing}"


@pytest.mark.slow
def test_pages_have_what_is_generated(site: Path) -> None:
    lock = (site / "api" / "lock.html").read_text()
    assert "Any thread may" in lock
    assert "blocking" in lock
    choosing = (site / "choosing.html").read_text()
    assert "at most 1024 in all, while the lock is saturated" in choosing
    assert "starving.svg" in (site / "index.html").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_on_the_pages_is_right(page: Path) -> None:
    text = page.read_text()
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        compile(block, str(page), "exec")
    for call in re.findall(r"`((?:Lock|Semaphore)\([^)`]*\))`", text):
        eval(call, vars(fairlock))
