# SPDX-License-Identifier: Apache-2.0
"""The page: one complete file, which loads nothing from the network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

from fairlock import __version__
from fairlock_lab.reports import changes, compare, style
from fairlock_lab.reports.background import claims_section, day, machine_section, properties_section
from fairlock_lab.reports.data import Group, Source, locks_of
from fairlock_lab.reports.markup import swatch
from fairlock_lab.reports.parts import Drawing
from fairlock_lab.reports.sections import (
    comparison_section,
    group_section,
    sample_rows,
    samples_section,
    summary_section,
)
from fairlock_lab.reports.words import counted, listed

# The browser may load nothing, whatever the figures contain. Vega compiles its expressions, hence unsafe-eval.
POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"

Sheets = Sequence[tuple[Group, Sequence[Drawing]]]


def page(
    sources: Sequence[Source], sheets: Sheets, libraries: str, comparison: compare.Comparison | None = None
) -> str:
    """Return the page; `libraries` is the JavaScript of Vega."""
    groups = [group for group, _ in sheets]
    measured = [source for source in sources if any(group.source is source for group in groups)]
    changed = changes.drawings(comparison) if comparison is not None else []
    figures = [*changed, *(drawing for _, drawings in sheets for drawing in drawings)]
    sections = {
        "in-short": ("In short", summary_section(measured, groups)),
        "comparison": ("Comparison", comparison_section(comparison, changed) if comparison is not None else ""),
        "": ("", chips(groups)),
        **{group.slug: (group.title, group_section(group, drawings)) for group, drawings in sheets if drawings},
        "claims": ("The papers' claims", claims_section(measured)),
        "properties": ("Properties", properties_section(groups)),
        "machine": ("Machine", "".join(machine_section(source, several=len(sources) > 1) for source in sources)),
        "all-samples": ("Samples", samples_section(groups)),
    }
    links = "".join(
        f'<a href="#{name}">{escape(title)}</a>' for name, (title, section) in sections.items() if title and section
    )
    body = "\n".join(
        f'<section id="{name}">{section}</section>' if title else section
        for name, (title, section) in sections.items()
        if section
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="fairlock {__version__}">
<title>{escape(workload_words(sources))} on {escape(machine_words(sources))}: fairlock report</title>
<link rel="icon" href="data:,">
<style>
{file("page.css")}
</style>
</head>
<body>
{top(sources, links)}
<main>
{body}
<footer>Made by fairlock {__version__} with Vega-Lite. This page is complete and works offline.</footer>
</main>
<noscript><style>.plot {{ display: none }}</style></noscript>
<script type="application/json" id="data">{embedded(payload(groups, figures))}</script>
<script>{libraries}</script>
<script>
{file("page.js")}
</script>
</body>
</html>
"""


def file(name: str) -> str:
    return resources.files("fairlock_lab.reports").joinpath(name).read_text(encoding="utf-8")


def payload(groups: Sequence[Group], drawings: Sequence[Drawing]) -> dict[str, Any]:
    return {
        "figures": {drawing.name: drawing.spec for drawing in drawings},
        "configs": {"light": style.LIGHT, "dark": style.DARK},
        "dark": style.dark_colours(),
        "neutral": dict(style.NEUTRAL.values()),
        "samples": list(sample_rows(groups)),
    }


def embedded(value: object) -> str:
    """Return JSON that cannot end the script element around it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


# --- the top ---


def workload_words(sources: Sequence[Source]) -> str:
    return listed(list(dict.fromkeys(source.results.plan.workload for source in sources)))


def machine_words(sources: Sequence[Source]) -> str:
    names = list(dict.fromkeys(str(source.results.machine.get("cpu", "?")) for source in sources))
    return f"{names[0]}, {counted(sources[-1].cpus, 'CPU')}" if len(names) == 1 else "several machines"


def top(sources: Sequence[Source], links: str) -> str:
    newest = sources[-1].results
    words = [day(newest.created)]
    words += [str(newest.machine[name]) for name in ("kernel", "compiler", "libc") if newest.machine.get(name)]
    words.append(counted(newest.plan.runs, "run"))
    return f"""<header class="top">
<p class="eyebrow">fairlock report: {escape(workload_words(sources))}</p>
<h1>{escape(machine_words(sources))}</h1>
<p class="quiet small">{escape(" · ".join(words))}</p>
<nav aria-label="Contents">{links}</nav>
</header>"""


def chips(groups: Sequence[Group]) -> str:
    """Return the key of all figures: a button for each lock, which hides and shows its lines."""
    buttons = []
    for lock in locks_of(groups):
        look = style.look(lock)
        hint = f"{look.family}; double-click: show only this lock"
        buttons.append(
            f'<button type="button" data-lock="{escape(lock)}" aria-pressed="true" title="{escape(hint)}">'
            f"{swatch(look)}{escape(lock)}</button>"
        )
    choices = "".join(f'<button type="button" class="{name}">{name}</button>' for name in ("all", "none"))
    inside = f'<div class="chips">{choices}{"".join(buttons)}</div>'
    return f'<div class="locks" role="group" aria-label="Locks in the figures">{inside}</div>'
