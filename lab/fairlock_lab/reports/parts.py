# SPDX-License-Identifier: Apache-2.0
"""The parts of figures: rows of data, scales, axes, colours, tooltips.

A specification has only the colours of the locks, and no font: `style` has the rest, so that the page can switch to
dark colours. Its parameter `hidden` holds the locks that the reader has switched off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairlock_lab.benchmarks.figures import Figure
from fairlock_lab.benchmarks.lock_sets import NO_LOCK
from fairlock_lab.reports.data import Group, lock_of
from fairlock_lab.reports.measures import MEASURES, Measure
from fairlock_lab.reports.style import DASHED, DASHES, HOLLOW, SHAPES, SOLID, Spec, look
from fairlock_lab.reports.words import threads as threads_of

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name; no program opens it
Row = dict[str, Any]


@dataclass(frozen=True)
class Drawing:
    name: str  # of its files, and of its element in the page
    title: str
    alt: str  # a description for readers who cannot see it
    caption: str
    spec: Spec
    place: Literal["main", "side", "half", "whole"] = "half"
    folded: bool = False  # the page shows it on demand
    tall: int | None = None  # the height of the file, if it differs from the page


# --- data ---


def rows_of(group: Group, name: str) -> list[Row]:
    """Return the median and the quartiles of each point that has the measure."""
    rows = []
    for i, point in group.points.items():
        figure = group.figure(i, name)
        if figure is not None and math.isfinite(figure.median):
            where = {"lock": lock_of(point), "label": group.labels[i], "threads": point.threads}
            rows.append({**where, **numbers(figure, MEASURES[name])})
    return rows


def numbers(figure: Figure, measure: Measure) -> Row:
    unit = 1e9 if measure.written == "seconds" else 1  # all times are drawn in nanoseconds
    written = f"{measure.write(figure.low)} to {measure.write(figure.high)}"
    return {
        "value": digits(figure.median * unit),
        "low": digits(figure.low * unit),
        "high": digits(figure.high * unit),
        "median": measure.write(figure.median),
        "quartiles": written if figure.runs > 1 else "unknown",
        "runs": figure.runs,
    }


def digits(value: float) -> float:
    """Return the value with six digits, which keeps the page small: no measurement is more precise."""
    return float(f"{value:.6g}")


NOT_HIDDEN = {"filter": "indexof(hidden, datum.lock) < 0"}


def plain(rows: list[Row], height: int) -> Spec:
    """Return the frame of a figure that is as wide as its element."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "data": {"values": rows},
        "params": [{"name": "hidden", "value": []}],
        "transform": [NOT_HIDDEN],
    }


def panels(rows: list[Row], field: str, names: Sequence[str], layers: list[Spec], height: int = 96) -> Spec:
    """Return a small figure for each name. The page decides how many stand side by side."""
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "params": [{"name": "hidden", "value": []}],
        "transform": [NOT_HIDDEN],
        "facet": {
            "field": field,
            "type": "nominal",
            "sort": list(names),
            "header": {"title": None, "labelAnchor": "start", "labelPadding": 4},
        },
        "columns": 4,
        "spacing": 18,
        "spec": {"width": 170, "height": height, "layer": layers},
    }


# --- axes ---


def x_threads(group: Group) -> Spec:
    low, high = group.threads[0], group.threads[-1]
    return {
        "field": "threads",
        "type": "quantitative",
        "scale": {"type": "log", "base": 2, "domain": [low / 1.1, high * 1.1], "nice": False},
        "axis": {"values": group.threads, "format": "d", "title": "threads"},
    }


# Where the paper has a logarithmic axis of throughput. Our axis of threads always is one.
LOGARITHMIC = {
    ("mutex", "capacitor"): "Both axes are logarithmic, as in the paper.",
    ("semaphore", "semabench"): "Both axes are logarithmic. In the paper, only the axis of throughput is.",
}


def y_values(group: Group, measure: Measure, rows: Sequence[Row]) -> tuple[Spec, str]:
    """Return the vertical channel, and an explanation of its scale if a reader may need one."""
    values = [row["value"] for row in rows]
    scale: Spec = {"zero": False, "padding": 8}
    why = "The vertical axis does not begin at 0, as in the papers."
    log = bool(values) and min(values) > 0
    if measure.scale in ("share", "zero"):
        log, scale, why = False, {"domain": [0, 1]} if measure.scale == "share" else {"zero": True}, ""
    elif measure.scale == "log":
        why = ""
    elif (group.workload, group.config) in LOGARITHMIC:
        why = LOGARITHMIC[group.workload, group.config]
    elif log and max(values) > 10 * min(values):
        why = "Both axes are logarithmic, because the values span more than a factor of ten."
    else:
        log = False
    if log:
        scale = {"type": "log", "nice": False, "padding": 8}
    return {
        "field": "value",
        "type": "quantitative",
        "scale": scale,
        "axis": axis(measure, values if log else None),
    }, why


TIME = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, '~g') + ' s' : datum.value >= 1e6 ? format(datum.value / 1e6, '~g')"
    " + ' ms' : datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' µs' : format(datum.value, '~g') + ' ns'"
)
LEADING_DIGIT = "round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))"


def axis(measure: Measure, on_log: Sequence[float] | None = None, **more: object) -> Spec:
    """Return the axis of a measure. A logarithmic axis has grid lines only at 1, 2 and 5, or fewer."""
    text = TIME if measure.written in ("ns", "seconds") else f"format(datum.value, '{measure.tick}')"
    spec: Spec = {"title": None, "tickCount": 5, "labelExpr": text, **more}
    return spec if on_log is None else {**spec, **few_lines(on_log, text)}


def few_lines(values: Sequence[float], text: str) -> Spec:
    span = max(values) / min(values)
    shown = f"indexof({[1, 2, 5] if span < 60 else [1, 3] if span < 300 else [1]}, {LEADING_DIGIT}) >= 0"
    seen = {"condition": {"test": shown, "value": 1}, "value": 0}
    return {"labelExpr": f"{shown} ? {text} : ''", "gridOpacity": seen, "tickOpacity": seen, "tickCount": 20}


def region(group: Group, *, note: bool) -> list[Spec]:
    """Return the shade behind the points that have more threads than processors."""
    cpus, high = group.source.cpus, group.threads[-1]
    if high <= cpus:
        return []
    begin, end = max(cpus, group.threads[0] / 1.1), high * 1.1
    data = {"values": [{"from": begin, "to": end, "text": f"more threads than CPUs ({cpus})"}]}
    x = {**x_threads(group), "field": "from"}
    shade = {
        "data": data,
        "mark": {"type": "rect", "style": "region"},
        "encoding": {"x": x, "x2": {"field": "to"}},
    }
    text = {
        "data": data,
        "mark": {"type": "text", "style": "note", "align": "right", "baseline": "top", "dx": -6, "y": 6},
        "encoding": {"x": {**x, "field": "to"}, "text": {"field": "text"}},
    }
    return [shade, text] if note else [shade]


# --- the locks ---


KEY = {"title": None, "symbolLimit": 0, "symbolStrokeWidth": 0, "symbolOpacity": 1}


def by_label(group: Group, values: Sequence[object]) -> Spec:
    scale = {"domain": list(group.series), "range": list(values)}
    return {"field": "label", "type": "nominal", "scale": scale, "legend": KEY}


def colour(group: Group) -> Spec:
    return by_label(group, [look(point.lock).light for point in group.series.values()])


def shape(group: Group) -> Spec:
    """Return the shapes of the locks; if the figure has several policies or forms, the shapes show these."""
    forms = {point.form for point in group.series.values()} - {None}
    shapes = []
    for point in group.series.values():
        chosen = look(point.lock).shape
        if len(group.waiting) > 1 and point.waiting:
            chosen = SHAPES[group.waiting.index(point.waiting) % len(SHAPES)]
        elif len(forms) > 1 and point.form == "mutex":
            chosen = HOLLOW.get(chosen, chosen)
        shapes.append(chosen)
    return by_label(group, shapes)


def dash(group: Group) -> Spec:
    """Return the dashes of the lines: one kind for each waiting policy, or for each form, if there are several."""
    forms = {point.form for point in group.series.values()} - {None}
    dashes = []
    for point in group.series.values():
        if len(group.waiting) > 1 and point.waiting:
            dashes.append(DASHES[group.waiting.index(point.waiting) % len(DASHES)])
        elif len(forms) > 1 and point.form:
            dashes.append(DASHED if point.form == "mutex" else SOLID)
        else:
            dashes.append(look(point.lock).dash)
    return by_label(group, [list(dashed) for dashed in dashes])


def without_legend(channel: Spec) -> Spec:
    """Return a channel without a legend."""
    return {**channel, "legend": None}


def keep_separate(channel: Spec) -> Spec:
    """Return a channel without a legend: Vega-Lite would merge the legends of channels with the same domain."""
    scale = {name: values[::-1] for name, values in channel["scale"].items()}
    return {**channel, "scale": scale, "legend": None}


def tooltip(*more: Spec) -> list[Spec]:
    return [
        {"field": "label", "title": "lock"},
        *more,
        *({"field": name, "title": name} for name in ("threads", "median", "quartiles", "runs")),
    ]


# --- words ---


def best_words(rows: Sequence[Row], measure: Measure) -> str:
    """Return which lock is ahead at each number of threads."""
    if not rows or not measure.better:
        return ""
    choose: Callable[..., Row] = max if measure.better == "more" else min
    words = []
    locks = [row for row in rows if row["lock"] != NO_LOCK]
    for threads in sorted({row["threads"] for row in locks}):
        best = choose((row for row in locks if row["threads"] == threads), key=lambda row: row["value"])
        words.append(f"{best['label']} with {best['median']} at {threads_of(threads)}")
    return f"Best medians: {'; '.join(words)}."


def slug(*words: object) -> str:
    return "-".join(str(word).replace(".", "-").replace("_", "-") for word in words)
