# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of `fairlock run --stats`: compile a program of `stats/`, and find an object in a document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes

from fairlock.run import lock_statistics

SOURCES = Path(__file__).parent / "stats"

Document = dict[str, Any]
Build = Callable[..., Path]


def builder_in(folder: Path) -> Build:
    """Return a function that compiles a program of `stats/` in a folder, once for each set of options."""

    def build(name: str, *options: str) -> Path:
        program = folder / "-".join([name, *(option.strip("-") for option in options)])
        if not program.exists():
            command = ["cc", "-O1", "-g", "-pthread", SOURCES / f"{name}.c", "-o", program, *options]
            processes.run(command, check=True)
        return program

    return build


def object_named(process: Document, symbol: str) -> Document:
    """Return the one object of a process with this name."""
    lock_statistics.resolve([process])
    (named,) = [entry for entry in process["objects"] if entry["symbol"] == symbol]
    return dict(named)
