# SPDX-License-Identifier: Apache-2.0
"""Line charts: a measure over the number of threads, or over the size of the waiting array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fairlock_lab.reports.data import Group
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.parts import (
    KEY,
    NOT_HIDDEN,
    Drawing,
    best_words,
    colour,
    dash,
    keep_separate,
    panels,
    plain,
    region,
    rows_of,
    shape,
    slug,
    tooltip,
    without_legend,
    x_threads,
    y_values,
)
from fairlock_lab.reports.style import DASHES, HOLLOW, Spec, look
from fairlock_lab.reports.words import counted, sentence

HEIGHTS = {"main": 372, "side": 124, "half": 220}

# The line nearest to the pointer stands out.
HOVER = {"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": True, "fields": ["label"]}


def hover_opacity(opacity: float = 1) -> Spec:
    return {"condition": {"param": "hover", "value": opacity}, "value": 0.1}


def over_threads(group: Group, name: str, place: Literal["main", "side", "half"]) -> Drawing:
    measure = MEASURES[name]
    rows = rows_of(group, name)
    y, why = y_values(group, measure, rows)
    x, tint = x_threads(group), colour(group)
    if place == "side":
        x["axis"]["title"] = None
    spec = {
        **plain(rows, HEIGHTS[place]),
        "layer": [
            *region(group, note=place != "side"),
            {
                "mark": {"type": "rule", "strokeWidth": 1.25},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                    "color": tint,
                    "opacity": hover_opacity(0.7),
                },
            },
            {
                "mark": {"type": "line"},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": tint,
                    "strokeDash": keep_separate(dash(group)),
                    "opacity": hover_opacity(),
                },
            },
            {
                "params": [{"name": "hover", "select": HOVER}],
                # The tooltip gets the whole row, of which page.js shows a part: for the nearest point, some versions of
                # Vega-Lite look for the fields of a tooltip in the wrong place.
                "mark": {"type": "point", "filled": True, "size": 42, "tooltip": {"content": "data"}},
                "encoding": {"x": x, "y": y, "color": tint, "shape": shape(group), "opacity": hover_opacity()},
            },
        ],
    }
    return Drawing(
        slug(group.slug, name),
        measure.title,
        f"{measure.title} ({measure.axis}) over the number of threads, a line for each of {len(group.series)} locks. "
        f"{best_words(rows, measure)}",
        " ".join(filter(None, [sentence(measure.axis), why if place == "main" else ""])),
        spec,
        place,
        tall=360,
    )


def small_multiples(group: Group, name: str) -> Drawing:
    measure = MEASURES[name]
    rows = rows_of(group, name)
    y, _ = y_values(group, measure, rows)
    y["axis"]["tickCount"] = 3
    x = x_threads(group)
    x["axis"]["title"] = None
    own = {"x": x, "color": without_legend(colour(group))}
    behind = [{key: row[key] for key in ("lock", "label", "threads", "value")} for row in rows]
    layers: list[Spec] = [
        {  # its data are not divided among the panels
            "data": {"values": behind},
            "transform": [NOT_HIDDEN],
            "mark": {"type": "line", "style": "others"},
            "encoding": {"x": x, "y": y, "detail": {"field": "label"}},
        },
        {
            "mark": {"type": "area", "opacity": 0.22},
            "encoding": {**own, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line"}, "encoding": {**own, "y": y, "strokeDash": without_legend(dash(group))}},
        {
            "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
            "encoding": {**own, "y": y, "tooltip": tooltip()},
        },
    ]
    names = list(dict.fromkeys(row["lock"] for row in rows))
    return Drawing(
        slug(group.slug, "each-lock"),
        "Each lock against the others",
        f"{measure.title} over the number of threads in {len(names)} small figures: one lock each, the others in grey.",
        f"{measure.title}: the lock's own line with its quartiles, and all others in grey.",
        panels(rows, "lock", names, layers),
        "whole",
    )


def has_slots(group: Group) -> bool:
    return any("/slots-" in point.lock for point in group.points.values())


def over_slots(group: Group) -> Drawing:
    measure = MEASURES["throughput"]
    arrays = {point.lock.partition("/")[0] for point in group.points.values() if "/" in point.lock}
    rows = [row for row in rows_of(group, "throughput") if row["lock"] in arrays]
    for row in rows:
        whole = group.series[row["label"]].lock
        slots = whole.partition("/slots-")[2]
        over = ", more than CPUs" if group.oversubscribed(row["threads"]) else ""
        row |= {
            "slots": slots or "all",
            "line": row["label"].replace(whole, row["lock"]),
            "panel": counted(row["threads"], "thread") + over,
        }
    policies = {row["line"]: group.series[row["label"]].waiting for row in rows}
    locks = {row["line"]: row["lock"] for row in rows}

    def by_line(values: Sequence[object]) -> Spec:
        scale = {"domain": list(locks), "range": list(values)}
        return {"field": "line", "type": "nominal", "scale": scale, "legend": KEY}

    ways = [group.waiting.index(policy) if policy else 0 for policy in policies.values()]
    dashes = [list(DASHES[way % len(DASHES)]) for way in ways]
    shapes = [
        look(lock).shape if way == 0 else HOLLOW[look(lock).shape]
        for lock, way in zip(locks.values(), ways, strict=True)
    ]
    y, _ = y_values(group, measure, rows)
    sizes = sorted({int(row["slots"]) for row in rows if row["slots"] != "all"})
    x = {
        "field": "slots",
        "type": "ordinal",
        "sort": [*map(str, sizes), "all"],
        "axis": {"title": "slots in the waiting array", "labelAngle": 0},
    }
    place = {"x": x, "y": y, "color": by_line([look(lock).light for lock in locks.values()])}
    layers: list[Spec] = [
        {
            "mark": {"type": "rule", "opacity": 0.6},
            "encoding": {**place, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line"}, "encoding": {**place, "strokeDash": keep_separate(by_line(dashes))}},
        {
            "mark": {"type": "point", "filled": True, "size": 42, "opacity": 1},
            "encoding": {
                **place,
                "shape": by_line(shapes),
                "tooltip": tooltip({"field": "slots", "title": "slots"}),
            },
        },
    ]
    titles = list(dict.fromkeys(row["panel"] for row in sorted(rows, key=lambda row: row["threads"])))
    kinds = zip(("solid", "dashed", "dotted", "long", "mixed"), group.waiting, strict=False)
    return Drawing(
        slug(group.slug, "slots"),
        "Collisions in small waiting arrays",
        f"Throughput over the number of slots in the waiting array, for {', '.join(locks)}.",
        "Episodes per second. With fewer slots, more waiters share one."
        + (f" Lines: {', '.join(f'{line} is {way}' for line, way in kinds)}." if len(group.waiting) > 1 else ""),
        {**panels(rows, "panel", titles, layers, height=200), "columns": 2},
        "whole",
    )
