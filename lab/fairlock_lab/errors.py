# SPDX-License-Identifier: Apache-2.0
"""The errors that functions of the lab raise for wrong arguments."""

from __future__ import annotations

from collections.abc import Iterable

from fairlock.usage import UsageError


class ArgumentError(UsageError, ValueError):
    """A wrong argument. The message is one line and names the valid choices.

    A command that does not catch this UsageError prints the message and ends with exit status 2.
    """


class ChoiceError(ArgumentError):
    """A value that is not one of the few choices of an argument."""

    def __init__(self, argument: str, value: object, choices: Iterable[object]) -> None:
        self.argument = argument
        self.value = value
        self.choices = tuple(choices)
        super().__init__(f"{argument}={value!r}: choose from {', '.join(map(repr, self.choices))}")
