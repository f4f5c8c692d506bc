# SPDX-License-Identifier: Apache-2.0
"""How the figures look: a hue for each family of locks, with shapes and dashes that work without colour.

The hues are those of Okabe and Ito, which colour-blind readers can distinguish, darkened where they would be too pale
on white. A lock has the same colour in every report.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Any

from fairlock_lab.benchmarks.lock_sets import PEERS

Spec = dict[str, Any]
Dash = tuple[float, ...]


@dataclass(frozen=True)
class Family:
    title: str
    members: tuple[str, ...]
    light: tuple[str, ...]  # the colours of the members on white
    dark: tuple[str, ...]  # the same on black


@dataclass(frozen=True)
class Look:
    light: str
    dark: str
    shape: str
    dash: Dash
    family: str


SYSTEM = "the system's"
LIBRARIES = "other libraries'"

# Each colour in `light` is unique, because the page uses it to look up the dark one.
FAMILIES = (
    Family(
        "fair",
        ("fair", "fair-semaphore", "fairlock.Lock", "fairlock.Semaphore", "fairlock.RLock", "fairlock.Condition"),
        ("#20252b", "#4a525c"),
        ("#f4f6f8", "#c3cad2"),
    ),
    Family(
        "waiting array",
        ("twa", "twa-semaphore", "twa-semaphore-chain", "twa-semaphore-futex"),
        ("#d55e00", "#a34700", "#de7526"),
        ("#ff8c3f", "#ffb07a", "#e06c1c"),
    ),
    Family(
        "hapax",
        ("hapax", "hapax-vw", "tidex"),
        ("#00876a", "#004f3e", "#3a9d7d"),
        ("#2cc59d", "#7fe3c6", "#1b9475"),
    ),
    Family(
        "ticket",
        ("ticket", "ticket-backoff", "partitioned-ticket", "anderson", "ticket-semaphore"),
        ("#0072b2", "#00466f", "#4f92ca"),
        ("#4fa8e8", "#9ccdf5", "#2b80bd"),
    ),
    Family(
        "queue",
        ("mcs", "clh", "hemlock", "qspinlock"),
        ("#b0508a", "#7a2a5c", "#c873a6"),
        ("#e08ac0", "#f2b8da", "#b85f97"),
    ),
    Family("stack", ("reciprocating", "lifo"), ("#7b4fb5", "#4d2b80"), ("#b491ea", "#d6c0f7")),
    Family(
        "barging", ("tts", "tas", "tts-backoff"), ("#b07a00", "#7a5400", "#b48d2a"), ("#eab53a", "#f6d88c", "#b98a1c")
    ),
    Family(
        "capacitor",
        ("capacitor-reciprocating", "capacitor-ticket", "capacitor-lifo", "capacitor-mcs", "capacitor-tts"),
        ("#1b8fb3", "#0d5f7a", "#3d9dbb"),
        ("#4cc3e6", "#9fe0f2", "#2a95b5"),
    ),
    Family(
        SYSTEM,
        (
            "pthread-mutex",
            "std-mutex",
            "pthread-mutex-pi",
            "sem_t",
            "std-semaphore",
            "threading.Lock",
            "threading.Semaphore",
        ),
        ("#6b7580", "#87919c", "#545d66"),
        ("#a3adb8", "#7d8792", "#c0c8d0"),
    ),
    Family(LIBRARIES, PEERS, ("#a04040", "#6e2626", "#b96a6a"), ("#ea8a8a", "#f6bcbc", "#c96c6c")),
    Family("other", (), ("#6e6256", "#93846f", "#4d443b"), ("#b8a998", "#d6cabc", "#94866f")),
)
OTHER = FAMILIES[-1]

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
# The same shapes with a hole, for variations of a lock: an outline, and a smaller one in the opposite direction.
HOLLOW = {
    "circle": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0ZM.5,0A.5,.5,0,1,0,-.5,0A.5,.5,0,1,0,.5,0Z",
    "square": "M-.9,-.9H.9V.9H-.9ZM-.45,-.45V.45H.45V-.45Z",
    "triangle-up": "M0,-1.1L1.1,.9H-1.1ZM0,-.25L-.45,.5H.45Z",
    "diamond": "M0,-1.2L1.2,0L0,1.2L-1.2,0ZM0,-.55L-.55,0L0,.55L.55,0Z",
    "triangle-down": "M0,1.1L-1.1,-.9H1.1ZM0,.25L.45,-.5H-.45Z",
    "cross": "M-.4,-1H.4V-.4H1V.4H.4V1H-.4V.4H-1V-.4H-.4ZM-.1,-.1V.1H.1V-.1Z",
}
SOLID: Dash = (1, 0)
DASHED: Dash = (5, 3)
DOTTED: Dash = (1.5, 2.5)
LONG: Dash = (10, 3)
MIXED: Dash = (8, 3, 2, 3)
DASHES = (SOLID, DASHED, DOTTED, LONG, MIXED)  # for the waiting policies, if a figure has several

# Prefixes and suffixes of a lock's name, the lock that it is drawn like, and its dash.
VARIATIONS = (
    (re.compile(r"ck-(.+)"), "{}", DASHED),
    (re.compile(r"semaphore-around-(.+)"), "capacitor-{}", DOTTED),
    (re.compile(r"(capacitor-.+)-fractional"), "{}", LONG),
    (re.compile(r"(.+)/.+"), "{}", DASHED),
)


def look(lock: str) -> Look:
    """Return how every figure draws this lock."""
    for pattern, base, dash in VARIATIONS:
        if match := pattern.fullmatch(lock):
            plain = look(base.format(match[1]))
            return Look(plain.light, plain.dark, HOLLOW.get(plain.shape, plain.shape), dash, plain.family)
    for family in FAMILIES:
        if lock in family.members:
            return _member(family, family.members.index(lock), DASHED if family.title in (SYSTEM, LIBRARIES) else SOLID)
    if lock.startswith("threading."):
        return _member(_family(SYSTEM), zlib.crc32(lock.encode()), DASHED)
    return _member(OTHER, zlib.crc32(lock.encode()), SOLID)


def _family(title: str) -> Family:
    return next(family for family in FAMILIES if family.title == title)


def _member(family: Family, number: int, dash: Dash) -> Look:
    shade = number % len(family.light)
    return Look(family.light[shade], family.dark[shade], SHAPES[number % len(SHAPES)], dash, family.title)


def rank(lock: str) -> tuple[int, int, str]:
    """Return the sort key of a lock: by family, in the order above."""
    chosen = look(lock)
    family = _family(chosen.family)
    return FAMILIES.index(family), family.light.index(chosen.light), lock


def dark_colours() -> dict[str, str]:
    """Return the colour on black for each colour on white."""
    return {light: dark for family in FAMILIES for light, dark in zip(family.light, family.dark, strict=True)}


FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def config(ink: str, muted: str, grid: str, region: str, background: str) -> Spec:
    """Return Vega-Lite's configuration: everything that is not the colour of a lock."""
    return {
        "background": background,
        "font": FONT,
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "labelColor": muted,
            "titleColor": muted,
            "titleFontWeight": "normal",
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titlePadding": 6,
            "domain": False,
            "tickColor": grid,
            "gridColor": grid,
            "labelOverlap": True,
        },
        "axisX": {"grid": False, "domain": True, "domainColor": grid},
        "header": {"labelColor": ink, "titleColor": muted, "labelFontSize": 12, "labelFontWeight": 600, "title": None},
        "legend": {"labelColor": ink, "titleColor": muted, "labelFontSize": 11, "symbolSize": 70, "title": None},
        "title": {"color": ink, "fontSize": 14, "fontWeight": 600, "anchor": "start", "subtitleColor": muted},
        "line": {"strokeWidth": 2},
        "style": {
            "region": {"color": region},
            "note": {"color": muted, "fontSize": 10.5},
            "bound": {"color": muted, "strokeWidth": 1, "strokeDash": [2, 3]},
            "spread": {"color": ink, "strokeWidth": 1.25},
            "others": {"color": grid, "strokeWidth": 1.25},
            "value": {"color": ink, "fontSize": 11},
        },
    }


# On white, and on black.
NEUTRAL = {
    "ink": ("#1c2126", "#e8ebee"),
    "muted": ("#59636e", "#a0aab4"),
    "grid": ("#dde2e7", "#363d45"),
    "region": ("#f3f5f7", "#20262c"),
    "background": ("#ffffff", "#171b1f"),
}
LIGHT, DARK = (config(**{name: pair[i] for name, pair in NEUTRAL.items()}) for i in (0, 1))
