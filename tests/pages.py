# SPDX-License-Identifier: Apache-2.0
"""Checks of Markdown pages. Each check takes a page, and returns a list of its mistakes."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import fairlock
from fairlock import cli
from fairlock.usage import UsageError

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
STATE_COUNT = re.compile(r"\d[\d,]*(?= states)|\d{1,3}(?:,\d{3})+")
KINDS = re.compile(r"\*(Tutorial|How-to|Reference|Explanation), for [^*]+\.\*")
FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    (?:fairlock|make|python) .*\n)+", re.MULTILINE)
FOLDERS = "docs|include|src|lab|tests|examples|tools|fairlock|cmake|\\.ci|\\.github"
NAMED_PATH = re.compile(rf"(?:{FOLDERS})/[\w./-]*")
NAMED_SOURCE = re.compile(r"[\w-]+\.(?:hpp|cpp|h)")
WRITTEN_BY_READERS = {"program.cpp"}  # files that a page asks its reader to write


@dataclass(frozen=True)
class Page:
    path: Path  # relative links begin at its folder
    text: str

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """Return the language and the text of each fenced block."""
        return [(language, text) for _, language, text in FENCE.findall(self.text)]

    @property
    def prose(self) -> str:
        return FENCE.sub("", self.text)

    @property
    def spans(self) -> list[str]:
        """Return the inline code, with each line break as a space."""
        return [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", self.prose)]


def read(path: Path) -> Page:
    return Page(path, path.read_text())


def kind(page: Page) -> list[str]:
    lines = page.text.splitlines()
    declared = len(lines) > 2 and KINDS.fullmatch(lines[2])
    return [] if declared else ["line 3 does not say which kind of page this is, and for which reader"]


def long_lines(page: Page) -> list[str]:
    lines = page.prose.splitlines()
    return [line for line in lines if len(line) > WIDTH and not line.startswith(("|", "    "))]


def anchors(page: Page) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Page) -> list[str]:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", page.prose)):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = page.path.parent / file if file else page.path
        if not target.exists() or (anchor and anchor not in anchors(read(target) if file else page)):
            broken.append(link)
    return broken


def missing_files(page: Page) -> list[str]:
    shell = [text for language, text in page.blocks if language == "sh"]
    words = {word.rstrip(",:;.") for text in [*page.spans, *shell] for word in text.split()}
    missing = [
        word
        for word in sorted(words)
        if NAMED_PATH.fullmatch(word) and not (ROOT / word).exists() and not (ROOT / "include" / word).exists()
    ]
    sources = {
        path.name for folder in ("include", "src", "lab", "tests", "examples") for path in (ROOT / folder).rglob("*.*")
    }
    missing += sorted(
        word for word in words - WRITTEN_BY_READERS if NAMED_SOURCE.fullmatch(word) and word not in sources
    )
    includes = re.findall(r"#include <(fairlock/[^>]+)>", page.text)
    return missing + [name for name in includes if not (ROOT / "include" / name).is_file()]


def command_lines(page: Page) -> Iterator[list[str]]:
    """Yield the words of each simple command on a page: in shell blocks, in indented lines, and in inline code."""
    shell = [text for language, text in page.blocks if language in ("", "sh")]
    shell += INDENTED.findall(page.prose)
    lines = [line for text in shell for line in text.replace("\\\n", " ").splitlines()]
    for line in [*lines, *page.spans]:
        if re.search(r"\b(fairlock|make) ", line) is None:
            continue
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # an apostrophe: not a command
            continue
        command: list[str] = []
        for word in [*words, ";"]:
            if set(word) <= set("();<>|&"):
                yield command
                command = []
            else:
                command.append(word)


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def problem_of(arguments: list[str]) -> str | None:
    """Return why `fairlock` would refuse these arguments, or None if it would not."""
    name, *rest = arguments
    if name.isupper():  # a placeholder
        return None
    if name not in cli.all_commands():
        return f"there is no command {name}"
    if not rest:
        return None
    try:
        parser = Parser(allow_abbrev=False)
        cli.load(name).add_arguments(parser)
        parser.parse_args(rest)
    except UsageError as error:
        return str(error)
    return None


def wrong_commands(page: Page) -> list[str]:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    options = set(re.findall(r'"(--?[a-z-]+)"', (Path(fairlock.__file__).parent / "__main__.py").read_text()))
    wrong = []
    for words in command_lines(page):
        if words[:1] == ["make"]:
            wrong += [f"make {word}" for word in words[1:] if re.fullmatch("[a-z-]+", word) and word not in targets]
        if "fairlock" not in words[:-1]:
            continue
        at = words.index("fairlock")
        arguments = words[at + 1 :]
        if words[at - 1 : at] == ["-m"]:  # python -m fairlock
            if arguments[0].startswith("-") and arguments[0] not in options:
                wrong.append(f"python -m fairlock {arguments[0]}")
        elif at == 0 or words[0] in ("do", "timeout", "env", "sudo"):
            problem = problem_of(arguments)
            wrong += [f"{' '.join(words)}: {problem}"] if problem else []
    return wrong


def unknown_functions(page: Page) -> list[str]:
    """Check tables of steps: a file that a row names contains each name that the row writes with parentheses."""
    unknown = []
    for row in re.findall(r"^\|.*\|$", page.prose, re.MULTILINE):
        spans = re.findall(r"`([^`]+)`", row)
        files = [ROOT / span for span in spans if NAMED_PATH.fullmatch(span) and (ROOT / span).is_file()]
        names = [span[:-2].rpartition("::")[2].rpartition(".")[2] for span in spans if span.endswith("()")]
        if files:
            text = "\n".join(file.read_text() for file in files)
            unknown += [f"{name}() in {files[0]}" for name in names if not re.search(rf"\b{name}\b", text)]
    return unknown


def without_state_counts(text: str) -> str:
    """Return the text without counts of states, which depend on the compiler, and without the width of columns."""
    return re.sub(r"[ -]+", " ", STATE_COUNT.sub("N", text))
