# SPDX-License-Identifier: Apache-2.0
"""Sphinx builds these pages: `make docs`. It reads the docstrings of the installed package."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import metadata

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import fairlock
from fairlock import cli
from fairlock_lab.entries import catalogue

project = "fairlock"
author = copyright = "The fairlock authors"
version = release = metadata.version("fairlock")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"fairlock {version}"

HELP_WIDTH = 100  # columns

CONSTRUCTORS: dict[str, Callable[[str], object]] = {
    "lock": fairlock.Lock,
    "semaphore": lambda name: fairlock.Semaphore(1, name),
}


def available_in_python(kind: str, name: str) -> str:
    """Construct an object with this algorithm, and return whether that works, as "yes" or "no"."""
    try:
        CONSTRUCTORS[kind](name)
    except ValueError:
        return "no"
    return "yes"


class Catalogue(SphinxDirective):
    """A table of the locks or the semaphores, with what each guarantees."""

    required_arguments = 1  # "lock" or "semaphore"

    def run(self) -> list[nodes.Node]:
        (kind,) = self.arguments
        lines = ["| name | from Python | order of admission |", "|---|---|---|"]
        for entry in catalogue().values():
            if entry.kind == kind:
                available = available_in_python(kind, entry.name)
                lines.append(f"| `{entry.name}` | {available} | {entry.order_of_admission()} |")
        return self.parse_text_to_nodes("\n".join(lines))


class CommandHelp(SphinxDirective):
    """The text that `fairlock COMMAND --help` prints."""

    required_arguments = 1  # the command

    def run(self) -> list[nodes.Node]:
        (command,) = self.arguments
        module = cli.load(command)
        parser = argparse.ArgumentParser(
            f"fairlock {command}",
            description=module.__doc__,
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=HELP_WIDTH),
        )
        module.add_arguments(parser)
        text = parser.format_help()
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> None:
    app.add_directive("catalogue", Catalogue)
    app.add_directive("command-help", CommandHelp)
