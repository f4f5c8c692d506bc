# SPDX-License-Identifier: Apache-2.0
"""Sphinx: `make docs`. The pages of the types come from the docstrings of the installed package."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import fairlock
from fairlock_lab import entries

project = "fairlock"
author = copyright = "The fairlock authors"
version = release = metadata.version("fairlock")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"fairlock {version}"

MAKERS: dict[str, Callable[[str], object]] = {
    "lock": fairlock.Lock,
    "semaphore": lambda name: fairlock.Semaphore(1, name),
}


def offered(kind: str, name: str) -> str:
    """Return whether Python has that algorithm: it says so itself."""
    try:
        MAKERS[kind](name)
    except ValueError:
        return "no"
    return "yes"


class Catalogue(SphinxDirective):
    """A table of the locks, or of the semaphores, with what each guarantees."""

    required_arguments = 1  # which of the two

    def run(self) -> list[nodes.Node]:
        (kind,) = self.arguments
        lines = ["| name | from Python | order of admission |", "|---|---|---|"]
        for entry in entries.entries():
            if entry["kind"] == kind:
                lines.append(f"| `{entry['name']}` | {offered(kind, entry['name'])} | {entries.order_of(entry)} |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> None:
    app.add_directive("catalogue", Catalogue)
