# SPDX-License-Identifier: Apache-2.0
"""The documentation builds without a warning, covers each public name, and names only what exists."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pages
import processes
import pytest
from pages import ROOT, Page

import fairlock

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"
SOURCES = {".c", ".cpp", ".h", ".hpp", ".md", ".py", ".pyi", ".txt"}
# The start page links to pages of every kind. The pages of the types are reference, as their index says.
WITHOUT_KIND = [
    ROOT / "docs" / "index.md",
    *(page for page in DOCS if page.parent.name == "api" and page.stem != "index"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="Sphinx is not installed: `make test` installs it")
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
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    documented = {name for kind in inventory.data.values() for name in kind}
    missing = [name for name in fairlock.__all__ if f"fairlock.{name}" not in documented]
    assert not missing, f"write a page for each in docs/api, and name it in docs/api/index.md: {missing}"


@pytest.mark.slow
def test_generated_parts_are_on_the_pages(site: Path) -> None:
    lock = (site / "api" / "lock.html").read_text()
    assert "Any thread may" in lock
    assert "blocking" in lock
    locks = (site / "reference" / "locks.html").read_text()
    assert "at most 1024 in all, while the lock is saturated" in locks
    commands = (site / "reference" / "command-line.html").read_text()
    assert "--measure-lower REGEX" in commands
    assert "starving.svg" in (site / "index.html").read_text()


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_python_on_the_pages_compiles(page: Path) -> None:
    text = page.read_text()
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        compile(block, str(page), "exec")
    for call in re.findall(r"`((?:Lock|Semaphore)\([^)`]*\))`", text):
        eval(call, vars(fairlock))


@pytest.mark.parametrize("page", [page for page in DOCS if page not in WITHOUT_KIND], ids=relative)
def test_a_page_says_which_kind_it_is(page: Path) -> None:
    assert pages.kind(pages.read(page)) == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=relative)
def test_prose_wraps_at_100_characters(page: Path) -> None:
    assert pages.long_lines(pages.read(page)) == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=relative)
def test_links_have_targets(page: Path) -> None:
    assert pages.broken_links(pages.read(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_named_files_exist(page: Path) -> None:
    assert pages.missing_files(pages.read(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_commands_have_the_options_that_the_page_uses(page: Path) -> None:
    assert pages.wrong_commands(pages.read(page)) == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_the_first_lines_of_readme_can_be_copied() -> None:
    first = "\n".join((ROOT / "README.md").read_text().splitlines()[:20])
    assert "](docs/starving.svg)" in first
    assert "pip install" in first
    (code,) = re.findall(r"```python\n(.*?)```", first, re.DOTALL)
    exec(code, {})


def test_the_architecture_names_real_functions() -> None:
    page = pages.read(ARCHITECTURE)
    assert len(re.findall(r"^\| .*\(\)`", page.text, re.MULTILINE)) >= 15
    assert pages.unknown_functions(page) == []


def test_sources_name_existing_pages() -> None:
    folders = ("fairlock", "include", "src", "lab", "tests", "tools", "examples", "docs")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in SOURCES]
    sources += [ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "CMakeLists.txt"]
    named = {(name, path) for path in sources for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text())}
    assert [f"{path}: {name}" for name, path in named if not (ROOT / name).exists()] == []
    assert len(named) >= 3


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    listed = {line.strip() for line in index.splitlines()}
    of_types = {page for page in DOCS if page.parent.name == "api" and page.stem != "index"}
    names = [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in DOCS if page not in of_types]
    assert [name for name in names if name != "index" and name not in listed] == []


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (pages.kind, "# A page\n\nNo kind.\n"),
        (pages.long_lines, f"{'word ' * 21}\n"),
        (pages.broken_links, "[a page](no-such-page.md)\n"),
        (pages.broken_links, "[a section](#no-such-section)\n"),
        (pages.missing_files, "`src/python/no_such_file.cpp`\n"),
        (pages.missing_files, "see `no_such_file.hpp`\n"),
        (pages.missing_files, "```sh\ncc tests/no_such_file.c\n```\n"),
        (pages.missing_files, "```cpp\n#include <fairlock/no_such_header.hpp>\n```\n"),
        (pages.wrong_commands, "```sh\nfairlock check --no-such-option\n```\n"),
        (pages.wrong_commands, "```\n$ fairlock run --no-such-option -- ./program\n```\n"),
        (pages.wrong_commands, "    fairlock no-such-command\n"),
        (pages.wrong_commands, "`fairlock bench mutex --no-such-option`\n"),
        (pages.wrong_commands, "`make no-such-target`\n"),
        (pages.wrong_commands, "`python -m fairlock --no-such-option`\n"),
        (pages.unknown_functions, "| `no_such_function()` | `include/fairlock/lock/ticket.hpp` |\n"),
    ],
)
def test_each_check_finds_a_mistake(check: Callable[[Page], list[str]], text: str) -> None:
    assert len(check(Page(ROOT / "README.md", text))) == 1
