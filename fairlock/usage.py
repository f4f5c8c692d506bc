# SPDX-License-Identifier: Apache-2.0
"""Errors in the use of the commands: one line on standard error, and exit status 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

INTERRUPTED = 130  # exit status


class UsageError(Exception):
    """A wrong argument. The message is one line for the user."""

    status = 2


def one_of(kind: str, given: str, valid: Iterable[str]) -> str:
    """Return a one-line message about an unknown name, with the valid names."""
    names = list(valid)
    near = difflib.get_close_matches(given, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"unknown {kind} '{given}'{hint}; choose from: {', '.join(names)}"
