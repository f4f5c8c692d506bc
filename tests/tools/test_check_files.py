# SPDX-License-Identifier: Apache-2.0
"""`tools/check_files.py` finds each fault that `make lint` relies on it to find, and accepts what is right."""

from __future__ import annotations

from pathlib import Path

import check_files
import processes
import pytest

LICENCE = f"# {check_files.LICENCE}\n"


def problems(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return list(check_files.check(path, path.name))


def test_a_short_file_with_its_licence_is_accepted(tmp_path: Path) -> None:
    assert problems(tmp_path / "good.py", LICENCE + "x = 1\n") == []
    assert problems(tmp_path / "script", "#!/bin/sh\n" + LICENCE) == []
    assert problems(tmp_path / "empty.py", "") == []


@pytest.mark.parametrize("name", ["a.py", "a.hpp", "a.c", "a.yml", "Makefile", "script"])
def test_a_source_file_without_its_licence_is_found(tmp_path: Path, name: str) -> None:
    text = "#!/bin/sh\necho\n" if name == "script" else "text\n"
    (problem,) = problems(tmp_path / name, text)
    assert problem.startswith(f"{name}:1: ")


def test_a_file_that_is_not_source_needs_no_licence(tmp_path: Path) -> None:
    assert problems(tmp_path / "LICENSE", "text\n") == []
    assert problems(tmp_path / "picture.svg", "x" * 500) == []


@pytest.mark.parametrize(("name", "limit"), [("a.py", 400), ("a.pyi", 400), ("a.h", 300), ("a.hpp", 300)])
def test_a_file_with_too_many_lines_is_found(tmp_path: Path, name: str, limit: int) -> None:
    assert problems(tmp_path / name, LICENCE + "\n" * (limit - 1)) == []
    assert problems(tmp_path / name, LICENCE + "\n" * limit) == [
        f"{name}: {limit + 1} lines; a {'header' if limit == 300 else 'Python file'} has at most {limit}"
    ]
    assert problems(tmp_path / "a.cpp", LICENCE + "\n" * limit) == []


def test_a_line_of_code_that_is_too_long_is_found(tmp_path: Path) -> None:
    assert problems(tmp_path / "a.cpp", LICENCE + "x" * 120) == []
    assert problems(tmp_path / "a.cpp", LICENCE + "x" * 121) == [
        "a.cpp:2: 121 characters; a line of code has at most 120"
    ]


PROSE = "word " * 19 + "ends."  # 100 characters


def test_a_line_of_prose_that_is_too_long_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert problems(page, PROSE) == []
    (problem,) = problems(page, f"- a list:\n\n  {PROSE}\n")
    assert problem == "page.md:3: 102 characters; a line of prose has at most 100"


def test_prose_after_a_block_of_code_is_checked_again(tmp_path: Path) -> None:
    text = f"```sh\nx\n```\n{PROSE}.\n\n    command\n\n{PROSE}.\n"
    assert [line.split(":")[1] for line in problems(tmp_path / "page.md", text)] == ["4", "8"]


def test_code_on_a_page_that_is_too_long_is_found(tmp_path: Path) -> None:
    text = f"```python\n{'x' * 121}\n```\n"
    assert problems(tmp_path / "page.md", text) == ["page.md:2: 121 characters; a line of code has at most 120"]


@pytest.mark.parametrize(
    "text",
    [
        f"| {PROSE} | {PROSE} |",
        f"- https://example.org/{'x' * 100}",
        f"```\n{PROSE} {PROSE}\n```",
        f"text\n\n    {PROSE} {PROSE}\n    {PROSE} {PROSE}\n",
    ],
    ids=["table", "link", "output", "command"],
)
def test_text_that_cannot_be_wrapped_may_be_wide(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path / "page.md", text) == []


def headers(folder: Path, *lengths: int) -> list[Path]:
    paths = [folder / f"{number}.hpp" for number, _ in enumerate(lengths)]
    for path, length in zip(paths, lengths, strict=True):
        path.write_text("\n" * length)
    return paths


def test_a_median_header_that_is_too_long_is_found(tmp_path: Path) -> None:
    assert list(check_files.check_median(headers(tmp_path, 10, 99, 300))) == []
    assert list(check_files.check_median(headers(tmp_path, 10, 100, 300))) == [
        "include: the median header has 100 lines; it must have fewer than 100"
    ]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A new git repository with a tracked, an untracked and an ignored file."""
    processes.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    for name in ("tracked.py", "untracked.py", "ignored.py"):
        (tmp_path / name).write_text("no licence\n")
    processes.run(["git", "-C", tmp_path, "add", "tracked.py"], check=True)
    return tmp_path


def test_the_files_of_the_tree_are_checked(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_files.main([], root=tree) == 1
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == ["tracked.py", "untracked.py"]
    for name in ("tracked.py", "untracked.py"):
        (tree / name).write_text(LICENCE)
    assert check_files.main([], root=tree) == 0


def test_the_median_of_the_tree_is_checked(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "include").mkdir()
    headers(tree / "include", 200)
    check_files.main([], root=tree)
    assert "the median header has 200 lines" in capsys.readouterr().out


def test_named_files_are_checked_alone(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_files.main([str(tree / "tracked.py")], root=tree) == 1
    assert "untracked.py" not in capsys.readouterr().out


def test_a_file_that_is_missing_is_one_line_and_status_2(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_files.main([str(tree / "missing.py")], root=tree) == 2
    assert "missing.py" in capsys.readouterr().err
