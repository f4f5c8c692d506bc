# SPDX-License-Identifier: Apache-2.0
"""The commands and functions that the lab adds, through entry points. The product never imports the lab."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from fairlock.usage import UsageError

COMMANDS = "fairlock.commands"  # modules with add_arguments(parser) and run(args)
COMPARE_PROGRAM = "fairlock.compare_program"  # the function behind `fairlock run --lock all`, named "compare"

HOW_TO_GET_THE_LAB = "pip install 'fairlock[lab]' (in a clone: make build, then .venv/bin/fairlock)"


def names(group: str) -> list[str]:
    """Return the names of a group of entry points."""
    return sorted({point.name for point in metadata.entry_points(group=group)})


def load(group: str, name: str, what: str) -> Any:
    """Return the object of an entry point. ``what`` names the caller in the UsageError if the lab is missing."""
    for point in metadata.entry_points(group=group, name=name):
        try:
            return point.load()
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "fairlock_lab":
                raise
            if isinstance(error, ModuleNotFoundError) and error.name == "fairlock_lab._native":
                message = "needs the lab's native module, which this installation lacks: make build"
            else:  # a part is missing, or the native module is for another system
                message = f"needs the lab, which does not load ({error}); install it again: {HOW_TO_GET_THE_LAB}"
            raise UsageError(f"{what} {message}") from None
    raise UsageError(f"{what} needs the lab: {HOW_TO_GET_THE_LAB}")
