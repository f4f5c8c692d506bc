# SPDX-License-Identifier: Apache-2.0
"""Check that each file of the tree names its licence and is not too long. `make lint` runs this.

python tools/check_files.py             all files that git tracks, or would add
python tools/check_files.py FILE ...    these files only; the median of the headers needs all of them

The exit status is 0 if nothing is wrong, 1 if a file is, and 2 for a file that cannot be read.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENCE_LINES = 2  # the licence stands in the first line, or in the second one after `#!`

MAX_PYTHON_LINES = 400
MAX_HEADER_LINES = 300
MEDIAN_HEADER_LINES = 100  # the median header of include/ stays below this
CODE_WIDTH = 120  # characters
PROSE_WIDTH = 100  # characters

PYTHON = {".py", ".pyi"}
HEADERS = {".h", ".hpp"}
SOURCES = PYTHON | HEADERS | {".c", ".cff", ".cmake", ".cpp", ".css", ".in", ".js", ".map", ".toml", ".yaml", ".yml"}
SOURCE_NAMES = {".clang-format", ".editorconfig", "CMakeLists.txt", "Makefile"}

FENCE = re.compile(r" *(```+|~~~+)(.*)")


def is_source(path: Path) -> bool:
    """Return whether a file is code or configuration: a known name, or a script that begins with `#!`."""
    if path.suffix in SOURCES or path.name in SOURCE_NAMES:
        return True
    if path.suffix:
        return False
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def check(path: Path, name: str) -> Iterator[str]:
    """Yield a line for each problem of a file."""
    if path.suffix == ".md":
        yield from check_markdown(path.read_text(), name)
    elif is_source(path):
        yield from check_source(path.read_text(), path.suffix, name)


def check_source(text: str, suffix: str, name: str) -> Iterator[str]:
    lines = text.splitlines()
    if lines and not any(LICENCE in line for line in lines[:LICENCE_LINES]):
        yield f"{name}:1: the first line does not say {LICENCE}"
    if suffix in PYTHON and len(lines) > MAX_PYTHON_LINES:
        yield f"{name}: {len(lines)} lines; a Python file has at most {MAX_PYTHON_LINES}"
    if suffix in HEADERS and len(lines) > MAX_HEADER_LINES:
        yield f"{name}: {len(lines)} lines; a header has at most {MAX_HEADER_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > CODE_WIDTH:
            yield f"{name}:{number}: {len(line)} characters; a line of code has at most {CODE_WIDTH}"


def check_markdown(text: str, name: str) -> Iterator[str]:
    """Yield a line for each line of a page that is too long.

    Tables may be wider. So may a line that cannot be broken, such as a long link, and a block that shows commands or
    output as they are: one that is indented, or whose fence names no language.
    """
    fence = language = ""  # of the block of code that the line is in
    indented = False
    after_blank = True
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        kind, limit = "prose", PROSE_WIDTH
        if fence:
            kind, limit = "code", CODE_WIDTH if language else len(line)
            if line.strip() == fence:
                fence = ""
        elif opening := FENCE.match(line):
            fence, language = opening.groups()
        else:
            # Four spaces begin a block after an empty line, and continue one.
            indented = line.startswith("    ") and (indented or after_blank)
            if indented or len(words) <= 2 or words[0].startswith("|"):
                limit = len(line)
        after_blank = not words
        if len(line) > limit:
            yield f"{name}:{number}: {len(line)} characters; a line of {kind} has at most {limit}"


def check_median(headers: Iterable[Path]) -> Iterator[str]:
    """Yield a line if the median header is too long."""
    lengths = [len(path.read_text().splitlines()) for path in headers]
    if lengths and (median := statistics.median(lengths)) >= MEDIAN_HEADER_LINES:
        yield f"include: the median header has {median:g} lines; it must have fewer than {MEDIAN_HEADER_LINES}"


def all_files(root: Path) -> list[Path]:
    """Return the files that git tracks, or would add, and that exist."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(root / name for name in names if name and (root / name).is_file())


def main(arguments: list[str], root: Path = ROOT) -> int:
    try:
        paths = [Path(word).resolve() for word in arguments] or all_files(root)
        problems: list[str] = []
        for path in paths:
            name = path.relative_to(root) if path.is_relative_to(root) else path
            problems += check(path, str(name))
        if not arguments:
            library = root / "include"
            problems += check_median(path for path in paths if path.suffix in HEADERS and library in path.parents)
    except (OSError, UnicodeDecodeError) as error:
        print(f"check_files.py: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(f"check_files.py: {error.stderr.strip()}", file=sys.stderr)
        return 2
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
