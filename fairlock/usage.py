# SPDX-License-Identifier: Apache-2.0
"""Errors in the use of the commands: one line on standard error, and exit status 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

INTERRUPTED = 130  # exit status


class UsageError(Exception):
    """A wrong argument. The message is one line for the user, even if a name in it contains a line break."""

    status = 2

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """Return the text with escapes in place of line breaks and other characters that control a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_of(kind: str, given: object, valid: Iterable[str]) -> str:
    """Return a one-line message about an unknown name, with the valid names."""
    names = list(valid)
    near = difflib.get_close_matches(given, names, n=1) if isinstance(given, str) else []
    hint = f" (did you mean {near[0]}?)" if near else ""
    shown = f"'{given}'" if isinstance(given, str) else repr(given)
    return f"unknown {kind} {shown}{hint}; choose from: {', '.join(names)}"
