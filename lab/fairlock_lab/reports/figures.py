# SPDX-License-Identifier: Apache-2.0
"""The figures of a group, and their form as files."""

from __future__ import annotations

from fairlock_lab.reports.contest import leading as leading_of
from fairlock_lab.reports.data import Group
from fairlock_lab.reports.histograms import histograms
from fairlock_lab.reports.lines import has_slots, over_slots, over_threads, small_multiples
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.parts import Drawing
from fairlock_lab.reports.rankings import has_loops, loops, ranking
from fairlock_lab.reports.style import Spec
from fairlock_lab.reports.tables import measures_of

FAIRNESS_MEASURES = ("fairness", "jain")  # these stand beside the leading measure
IN_HISTOGRAMS = ("handover.p50", "handover.p99")
ONLY_IF_LISTED = ("processors",)  # every sample has it, but it matters only where threads may sleep


def drawings(group: Group) -> list[Drawing]:
    """Return all figures of a group, the most important first."""
    if has_loops(group):
        return [loops(group)]
    leading = leading_of(group)
    order = (*FAIRNESS_MEASURES, *(name for name in MEASURES if name not in FAIRNESS_MEASURES))
    listed = measures_of(group.workload, group.config)
    others = [name for name in order if group.has(name) and name not in (leading, *IN_HISTOGRAMS)]
    others = [name for name in others if name in listed or name not in ONLY_IF_LISTED]
    if leading == "ns":  # with one thread, the other measures mean nothing
        others = []
    result: list[Drawing] = []
    if has_slots(group):
        result.append(over_slots(group))
    elif len(group.threads) == 1:
        result += [ranking(group, name) for name in [leading, *others] if name]
    else:
        if leading is not None:
            result.append(over_threads(group, leading, "main"))
        result += [
            over_threads(group, name, "side" if name in FAIRNESS_MEASURES and leading else "half") for name in others
        ]
        if leading is not None and len(group.series) > 2:
            result.append(small_multiples(group, leading))
    return [*result, *histograms(group)]


def for_file(drawing: Drawing) -> Spec:
    """Return the specification for a file, which needs a size and a title."""
    spec: Spec = {**drawing.spec, "title": drawing.title}
    if spec.get("width") == "container":
        spec |= {"width": 620, "height": drawing.tall or spec["height"]}
    return spec
