# SPDX-License-Identifier: Apache-2.0
"""The table of ``fairlock bench targets``: which targets are met."""

from __future__ import annotations

from fairlock_lab.benchmarks.blocks import Block, Grid
from fairlock_lab.benchmarks.results import BenchResults
from fairlock_lab.benchmarks.targets import judge

CAPTION = "Targets: the figure, and in brackets the two values between which half of the runs lie"


def blocks(results: BenchResults) -> list[Block]:
    targets = judge(results)
    rows = []
    for target in targets:
        figure = target.figure
        shown = f"{figure.median:5.2f} ({figure.low:.2f} to {figure.high:.2f})" if figure is not None else ""
        goal = f"{target.what}, {'at most' if target.at_most else 'at least'} {target.bound:g}"
        doubt = ": within the noise" if target.in_doubt() else ""
        rows.append([target.verdict, target.lock, target.where, shown, goal + doubt])
    verdicts = [target.verdict for target in targets]
    met, missed = verdicts.count("met"), verdicts.count("MISSED")
    unmeasured = len(verdicts) - met - missed
    summary = f"{met} met, {missed} missed" + (f", {unmeasured} not measured" if unmeasured else "")
    return [Grid(["verdict", "lock", "where", "figure", "target"], rows, caption=CAPTION), summary]
