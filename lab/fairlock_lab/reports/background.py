# SPDX-License-Identifier: Apache-2.0
"""The parts of the page about the papers' claims, the properties of the locks, and the machine."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from html import escape

from fairlock.table import show
from fairlock_lab.benchmarks import verdicts
from fairlock_lab.reports.data import Group, Source, locks_of
from fairlock_lab.reports.markup import facts, pill, table, unfoldable
from fairlock_lab.reports.words import counted

PILLS = {verdicts.REPRODUCED: "good", verdicts.NOT_REPRODUCED: "bad"}


def claims_section(sources: Sequence[Source]) -> str:
    judged = verdicts.judge([source.results for source in sources])
    measured = [verdict for verdict in judged if verdict.measured]
    others = [verdict for verdict in judged if not verdict.measured]
    text = (
        claims_table(measured)
        if measured
        else '<p class="quiet">These results contain no measurement of the papers\' claims.</p>'
    )
    many = f"{counted(len(others), 'claim')} that these results cannot decide"
    rest = unfoldable(many, claims_table(others)) if others else ""
    return f"<h2>What the papers report, and what was measured here</h2>{text}{rest}"


def claims_table(judged: Sequence[verdicts.Verdict]) -> str:
    rows = []
    for verdict in judged:
        rows.append(
            [
                escape(verdict.claim),
                pill(verdict.verdict, PILLS.get(verdict.verdict, "")),
                f"{escape(verdict.words)}<small>{escape(verdict.paper)}</small>",
                f"{escape(verdict.measured)}<small>{escape(verdict.why)}</small>",
            ]
        )
    return table(["claim", "verdict", "what the paper reports", "what was measured here"], rows, kind="stack")


def properties_section(groups: Sequence[Group]) -> str:
    """Return the catalogue if the native module is installed, and the results have one of its locks."""
    try:
        from fairlock_lab.entries import COLUMNS, LEGEND, catalogue
    except ImportError:
        return ""
    measured = set(locks_of(groups))
    tables = []
    for kind, columns in COLUMNS.items():
        shown = [entry for entry in catalogue().values() if entry.kind == kind]
        if any(entry.name in measured for entry in shown):
            rows = [[escape(show(getattr(entry, key))) for key in columns] for entry in shown]
            marks = ["measured" if entry.name in measured else "" for entry in shown]
            sizes = [i for i, head in enumerate(columns.values()) if head.split()[-1] == "B"]
            tables.append(table(list(columns.values()), rows, numbers=sizes, kind="tight", marks=marks))
    if not tables:
        return ""
    legend = "".join(f'<p class="quiet small">{escape(line)}</p>' for line in LEGEND.splitlines()[:2])
    words = (
        "What each algorithm guarantees and needs, on any machine. A dot marks the algorithms that were measured here."
    )
    return f"<h2>Properties</h2><p>{words}</p>{''.join(tables)}{legend}"


def machine_section(source: Source, *, several: bool) -> str:
    results, plan = source.results, source.results.plan
    command = shlex.join(["fairlock", *results.command])
    again = shlex.join(["fairlock", "bench", "--from", source.path.name])
    known = {name.replace("_", " "): value for name, value in results.machine.items()}
    known |= {
        "measured": day(results.created),
        "fairlock": results.fairlock,
        "file": source.path.name,
        "samples": f"{len(results.samples)} of {len(plan.order)}",
        "runs": plan.runs,
        "warm-up": f"{plan.warm_up:g} s",
        "pinned": "yes" if plan.pin else "no",
        "seed": plan.seed,
    }
    of = f": {source.path.name}" if several else ""
    return f"""<h2>Machine, and how to repeat the measurement{escape(of)}</h2>
{facts(known)}
<p class="quiet small">Measured with</p>
<pre>{escape(command)}</pre>
<p class="quiet small">To repeat the measurement with the same plan, order and seeds</p>
<pre>{escape(again)}</pre>"""


def day(created: str) -> str:
    return f"{created.replace('T', ' ')[:16]} UTC"
