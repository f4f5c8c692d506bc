# SPDX-License-Identifier: Apache-2.0
"""The errors that functions of the lab raise for wrong arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from fairlock.usage import UsageError, one_of

Value = TypeVar("Value")


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

    def __reduce__(self) -> tuple[Any, ...]:  # so that it can be copied, and sent to another process
        return type(self), (self.argument, self.value, self.choices)


def choice(argument: str, value: object, choices: Iterable[Value]) -> Value:
    """Return the choice that equals the value. Raise ChoiceError if there is none."""
    choices = tuple(choices)
    for known in choices:
        if not isinstance(value, bool) and value == known:
            return known
    raise ChoiceError(argument, value, choices)


def look_up(kind: str, name: object, known: Mapping[str, Value]) -> Value:
    """Return what has this name. Raise ArgumentError if nothing has it."""
    if not isinstance(name, str) or name not in known:
        raise ArgumentError(one_of(kind, name, known))
    return known[name]


def check_number(argument: str, value: object, least: float, most: int) -> None:
    """Raise ArgumentError if the value is not a number in this range. It must be an int if ``least`` is."""
    kinds = int if isinstance(least, int) else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        raise ArgumentError(f"{argument}: choose a number from {least} to {most}, not {value!r}")


def file_at(argument: str, name: object) -> Path:
    """Return the path with this name. Raise ArgumentError if no file could have it."""
    if not isinstance(name, str | PathLike) or "\0" in str(name):
        raise ArgumentError(f"{argument}: name a file, not {name!r}")
    return Path(name)


def check_callback(value: object) -> None:
    if value is not None and not callable(value):
        raise ArgumentError(f"progress: pass a function or None, not {value!r}")
