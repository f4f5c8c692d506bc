# SPDX-License-Identifier: Apache-2.0
"""What the commands say when they are called the wrong way."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

INTERRUPTED = 130  # exit status


class UsageError(Exception):
    """A wrong argument: one line for the user, and an exit status."""

    status = 2


def one_of(kind: str, given: str, valid: Iterable[str]) -> str:
    """Return the line that says what is wrong with a name, and which names there are."""
    names = list(valid)
    near = difflib.get_close_matches(given, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"unknown {kind} '{given}'{hint}; choose from: {', '.join(names)}"
