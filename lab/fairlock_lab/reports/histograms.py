# SPDX-License-Identifier: Apache-2.0
"""Histograms of times, one for each lock: hand-overs and waits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fairlock_lab.benchmarks.figures import percentile
from fairlock_lab.reports.data import Group, lock_of
from fairlock_lab.reports.measures import nanoseconds
from fairlock_lab.reports.parts import TIME, Drawing, Row, colour, digits, few_lines, panels, slug, without_legend
from fairlock_lab.reports.style import Spec
from fairlock_lab.reports.words import counted, sentence

KINDS = {
    "handover": ("Hand-over", "from just before the release to the next thread's entry"),
    "waits": ("Waits", "how long each acquire took"),
}
SMALLEST = 0.0005  # a smaller share would be invisible, and would stretch the axis
MARKS = (("median", 0.5, 0, "spread"), ("p99", 0.99, 13, "bound"))  # the second text stands below the first


def histograms(group: Group) -> Iterator[Drawing]:
    """Yield a figure for each kind and number of threads. The page shows one of each kind, and the others on demand."""
    for kind in KINDS:
        counts = [n for n in group.threads if any(merged(group, i, kind) for i in group.at(n))]
        first = max((n for n in counts if not group.oversubscribed(n)), default=min(counts, default=0))
        for threads in sorted(counts, key=lambda n: (n != first, n)):
            yield drawing(group, kind, threads, folded=threads != first)


def merged(group: Group, number: int, kind: str) -> Spec | None:
    """Return one histogram for all runs of a point."""
    buckets: dict[tuple[float, float], int] = {}
    for sample in group.source.table.samples(number):
        histogram = sample.metrics.get(kind)
        if isinstance(histogram, dict) and "edges_ns" in histogram:
            for (low, high), count in zip(pairwise(histogram["edges_ns"]), histogram["counts"], strict=False):
                if count:
                    buckets[low, high] = buckets.get((low, high), 0) + count
    if not buckets:
        return None
    edges, counts = [min(buckets)[0]], []
    for (low, high), count in sorted(buckets.items()):
        if low > edges[-1]:  # an empty bucket between the two
            edges.append(low)
            counts.append(0)
        edges.append(high)
        counts.append(count)
    return {"edges_ns": edges, "counts": counts}


def drawing(group: Group, kind: str, threads: int, *, folded: bool) -> Drawing:
    title, what = KINDS[kind]
    rows: list[Row] = []
    words = []
    for i in group.at(threads):
        histogram = merged(group, i, kind)
        if histogram is not None:
            rows += rows_of(group, i, histogram)
            words.append(f"{group.labels[i]} {nanoseconds(percentile(histogram, 0.5) or 0)}")
    ends = [row["from"] for row in rows if "from" in row] + [row["to"] for row in rows if "to" in row]
    x: Spec = {"field": "from", "type": "quantitative", "scale": {"type": "log", "nice": False}}
    x["axis"] = {"title": None, **few_lines([min(ends), 1000 * max(ends)], TIME)}
    tallest = max(row["share"] for row in rows if "share" in row)
    y: Spec = {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1.4 * tallest], "nice": False}}
    y["axis"] = {"title": None, "format": "~%", "tickCount": 3}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.share)"}],
            "mark": {"type": "rect", "opacity": 0.85},
            "encoding": {
                "x": x,
                "x2": {"field": "to"},
                "y": y,
                "y2": {"datum": 0},
                "color": without_legend(colour(group)),
                "tooltip": [
                    {"field": "label", "title": "lock"},
                    {"field": "span", "title": "time"},
                    {"field": "share", "title": "share", "format": ".2~%"},
                ],
            },
        }
    ]
    for name, _, depth, line in MARKS:
        only = [{"filter": f"datum.mark === '{name}'"}]
        layers += [
            {
                "transform": only,
                "mark": {"type": "rule", "style": line, "y": 28, "y2": "height"},
                "encoding": {"x": {**x, "field": "at"}},
            },
            {
                "transform": only,
                "mark": {
                    "type": "text",
                    "style": "note",
                    "align": "right",
                    "baseline": "top",
                    "x": "width",
                    "y": depth,
                },
                "encoding": {"text": {"field": "text"}},
            },
        ]
    over = ", more than there are CPUs" if group.oversubscribed(threads) else ""
    names = list(dict.fromkeys(row["label"] for row in rows))
    return Drawing(
        slug(group.slug, kind, threads),
        f"{title}, {counted(threads, 'thread')}",
        f"Histograms, {what}, for {len(names)} locks, {counted(threads, 'thread')}{over}. Medians: {'; '.join(words)}.",
        f"{sentence(what)} Lines: the median and, dotted, the 99th percentile of all runs together.",
        panels(rows, "label", names, layers),
        "whole",
        folded,
    )


def rows_of(group: Group, number: int, histogram: Spec) -> list[Row]:
    of = {"lock": lock_of(group.points[number]), "label": group.labels[number]}
    total = sum(histogram["counts"])
    rows: list[Row] = []
    for (low, high), count in zip(pairwise(histogram["edges_ns"]), histogram["counts"], strict=True):
        if count > SMALLEST * total:
            span = f"{nanoseconds(low)} to {nanoseconds(high)}"
            rows.append({**of, "from": max(low, 0.5), "to": max(high, 1), "share": digits(count / total), "span": span})
    for name, share, *_ in MARKS:
        at = percentile(histogram, share)
        if at is not None:
            rows.append({**of, "mark": name, "at": digits(at), "text": f"{name} {nanoseconds(at)}"})
    return rows
