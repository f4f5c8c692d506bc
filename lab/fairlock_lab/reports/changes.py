# SPDX-License-Identifier: Apache-2.0
"""What changed between two files, as figures: for each group and measure, a panel for each number of threads."""

from __future__ import annotations

from collections.abc import Sequence

from fairlock_lab.reports.compare import CHANGED, FAIRNESS, NOISE, Change, Comparison
from fairlock_lab.reports.data import lock_of
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.parts import Drawing, Row, digits, panels, slug
from fairlock_lab.reports.style import Spec
from fairlock_lab.reports.words import sentence, threads

COLOURS = {
    "better": "#0072b2",
    "worse": "#d55e00",
    "same": "#87919c",
}  # from the palette of the locks, which has dark counterparts


def drawing(changes: Sequence[Change], title: str) -> Drawing:
    """Return the changes of one group and measure, a panel for each number of threads."""
    group, measure = changes[0].group, changes[0].measure
    fair = measure == FAIRNESS
    rows: list[Row] = []
    for change in changes:
        better = change.verdict in ("faster", "fairer")
        rows.append(
            {
                "lock": lock_of(change.point),
                "label": change.label,
                "panel": threads(change.point.threads),
                "value": digits(change.by.value),
                "low": digits(change.by.low if change.by.known else change.by.value),
                "high": digits(change.by.high if change.by.known else change.by.value),
                "way": "better" if better else "worse" if change.regression else "same",
                "change": change.written,
                "interval": change.interval or "unknown",
                "verdict": change.verdict,
                "then": MEASURES[measure].write(change.old),
                "now": MEASURES[measure].write(change.new),
            }
        )
    names = list(dict.fromkeys(change.label for change in changes))
    y: Spec = {
        "field": "label",
        "type": "nominal",
        "sort": names,
        "axis": {"title": None, "ticks": False, "domain": False},
    }
    scale: Spec = {"zero": False, "padding": 8} if fair else {"type": "log", "nice": False, "padding": 8}
    x: Spec = {
        "field": "value",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": None, "grid": True, "domain": False, "tickCount": 4, "format": ".2~f"},
    }
    tint = {
        "field": "way",
        "type": "nominal",
        "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
        "legend": None,
    }
    shapes = {**tint, "scale": {"domain": list(COLOURS), "range": ["triangle-up", "triangle-down", "circle"]}}
    tips = [{"field": "label", "title": "lock"}] + [
        {"field": name, "title": name} for name in ("verdict", "then", "now", "change", "interval")
    ]
    layers: list[Spec] = [
        {
            "data": {"values": [{"same": 0 if fair else 1}]},
            "mark": {"type": "rule", "style": "bound"},
            "encoding": {"x": {**x, "field": "same"}},
        },
        {
            "mark": {"type": "rule"},
            "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": tint},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 56, "opacity": 1},
            "encoding": {"y": y, "x": x, "color": tint, "shape": shapes, "tooltip": tips},
        },
    ]
    what = "new minus old" if fair else "new / old"
    changed = [
        f"{change.label} {change.verdict} at {threads(change.point.threads)}"
        for change in changes
        if change.verdict != NOISE
    ]
    counts = sorted({change.point.threads for change in changes})
    spec = panels(rows, "panel", [threads(n) for n in counts], layers)
    spec["spec"]["height"] = {"step": 18}
    return Drawing(
        slug(group.slug, "change", measure),
        title,
        f"{title}, {what}, for {len(names)} locks. "
        + (f"{'; '.join(changed)}." if changed else "No change beyond the noise."),
        f"{sentence(what)[:-1]}, with its 95 % interval. Blue, up: better; red, down: worse; grey: noise.",
        spec,
        "whole",
        folded=not any(change.verdict in CHANGED for change in changes),
    )


def drawings(comparison: Comparison) -> list[Drawing]:
    by_figure: dict[tuple[str, str], list[Change]] = {}
    for change in comparison.changes:
        by_figure.setdefault((change.group.slug, change.measure), []).append(change)
    return [
        drawing(changes, f"{changes[0].group.title}: {MEASURES[measure].title.lower()}")
        for (_, measure), changes in by_figure.items()
    ]
