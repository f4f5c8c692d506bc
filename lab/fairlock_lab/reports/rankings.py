# SPDX-License-Identifier: Apache-2.0
"""Bar charts: a measure at one number of threads, with the best lock first; and the cost of the harness's loop."""

from __future__ import annotations

from fairlock_lab.benchmarks.figures import Figure
from fairlock_lab.reports.data import Group
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.parts import (
    Drawing,
    Row,
    axis,
    best_words,
    colour,
    numbers,
    plain,
    rows_of,
    slug,
    tooltip,
    without_legend,
)
from fairlock_lab.reports.style import Spec, look
from fairlock_lab.reports.words import counted, sentence, threads

NAMES: Spec = {"title": None, "ticks": False, "labelPadding": 6, "labelLimit": 200, "domain": False}


def ranking(group: Group, name: str) -> Drawing:
    measure = MEASURES[name]
    rows = sorted(rows_of(group, name), key=lambda row: float(row["value"]), reverse=measure.better != "less")
    values = [row["value"] for row in rows]
    room = 1.14  # for the numbers to the right of the bars
    most = 1 if measure.scale == "share" else max(row["high"] for row in rows)
    scale: Spec = {"domain": [0, room * most], "nice": False}
    log = measure.scale in ("paper", "log") and min(values) > 0 and max(values) > 10 * min(values)
    mark: Spec = {"type": "bar", "height": 13, "opacity": 0.85, "cornerRadiusEnd": 2}
    if log:  # on an axis without 0, the length of a bar means nothing
        scale = {"type": "log", "nice": False, "padding": 14}
        mark = {"type": "point", "filled": True, "size": 64, "opacity": 1}
    y: Spec = {"field": "label", "type": "nominal", "sort": [row["label"] for row in rows], "axis": NAMES}
    x: Spec = {"field": "value", "type": "quantitative", "scale": scale}
    x["axis"] = axis(measure, values if log else None, grid=True, domain=False)
    if measure.scale == "share":
        x["axis"]["values"] = [0, 0.25, 0.5, 0.75, 1]
    spec = {
        **plain(rows, 21 * len(rows)),
        "layer": [
            {"mark": mark, "encoding": {"y": y, "x": x, "color": without_legend(colour(group)), "tooltip": tooltip()}},
            {
                "mark": {"type": "rule", "style": "spread"},
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "text", "style": "value", "align": "left", "dx": 8},
                "encoding": {"y": y, "x": {**x, "field": "high"}, "text": {"field": "median"}},
            },
        ],
    }
    where = f"{threads(group.threads[0])} on {counted(group.source.cpus, 'CPU')}"
    return Drawing(
        slug(group.slug, name),
        measure.title,
        f"{measure.title} ({measure.axis}) of {len(rows)} locks, {where}. {best_words(rows, measure)}",
        f"{sentence(measure.axis)} {sentence(where)} The best lock comes first; lines join the quartiles.",
        spec,
    )


def has_loops(group: Group) -> bool:
    return any("rows" in sample.metrics for sample in group.samples())


def loops(group: Group) -> Drawing:
    """Return the harness's loop against a handwritten one."""
    loops: dict[str, dict[str, list[float]]] = {}
    for sample in group.samples():
        for row in sample.metrics.get("rows", ()):
            both = loops.setdefault(str(row["lock"]), {"harness": [], "handwritten": []})
            both["harness"].append(float(row["loop_ns"]))
            both["handwritten"].append(float(row["hand_ns"]))
    rows: list[Row] = []
    words = []
    for lock, both in loops.items():
        figures = {loop: Figure.of(values) for loop, values in both.items()}
        for loop, figure in figures.items():
            rows.append({"lock": lock, "label": lock, "loop": loop, "threads": 1, **numbers(figure, MEASURES["ns"])})
        words.append(f"{lock} {figures['harness'].median - figures['handwritten'].median:+.1f} ns")
    names = list(loops)
    x: Spec = {"field": "value", "type": "quantitative", "axis": axis(MEASURES["ns"], grid=True, domain=False)}
    tint = {"domain": names, "range": [look(name).light for name in names]}
    strength = {"domain": ["harness", "handwritten"], "range": [0.9, 0.45]}
    spec = {
        **plain(rows, 18 * len(rows)),
        "encoding": {
            "y": {"field": "label", "type": "nominal", "sort": names, "axis": NAMES},
            "yOffset": {"field": "loop", "type": "nominal", "sort": ["harness", "handwritten"]},
        },
        "layer": [
            {
                "mark": {"type": "bar", "height": {"band": 0.8}, "cornerRadiusEnd": 2},
                "encoding": {
                    "x": x,
                    "color": {"field": "label", "type": "nominal", "scale": tint, "legend": None},
                    "opacity": {"field": "loop", "type": "ordinal", "scale": strength, "legend": None},
                    "tooltip": tooltip({"field": "loop", "title": "loop"}),
                },
            },
            {
                "mark": {"type": "text", "style": "value", "align": "left", "dx": 5},
                "encoding": {"x": x, "text": {"field": "median"}},
            },
        ],
    }
    differences = f"Differences: {'; '.join(words)}."
    return Drawing(
        slug(group.slug, "loops"),
        "What the harness costs",
        f"Time per episode in the harness's loop and in a handwritten one. {differences}",
        f"Full: the harness's loop; pale: a handwritten loop for the same lock. {differences}",
        spec,
    )
