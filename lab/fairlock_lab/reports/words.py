# SPDX-License-Identifier: Apache-2.0
"""Small pieces of sentences."""

from __future__ import annotations

from collections.abc import Sequence

from fairlock_lab.reports.noise import Interval

WIDEST = 20  # an interval whose ends differ by a larger factor is useless


def times(interval: Interval) -> str:
    """Return a ratio and its interval: 1.25 (1.20 to 1.30) times."""
    value = short(interval.value)
    if not interval.known:
        return f"{value} times"
    if interval.high > WIDEST * interval.low:
        return f"{value} (too noisy for an interval) times"
    return f"{value} ({short(interval.low)} to {short(interval.high)}) times"


def short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def listed(names: Sequence[str], word: str = "and", most: int = 4) -> str:
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def threads(number: int) -> str:
    """Return the number of threads; 0 means that a program decides for itself."""
    return counted(number, "thread") if number else "its own threads"


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
