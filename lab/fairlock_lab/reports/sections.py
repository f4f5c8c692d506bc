# SPDX-License-Identifier: Apache-2.0
"""The parts of the page that show the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from fairlock_lab.benchmarks.compare_program import WORKLOAD as WHOLE_PROGRAM
from fairlock_lab.benchmarks.figures import value_of
from fairlock_lab.reports import compare
from fairlock_lab.reports.advice import NO_ADVICE, NOT_RELIABLE, advice
from fairlock_lab.reports.data import Group, Source
from fairlock_lab.reports.markup import classes, pill, rich, table, unfoldable
from fairlock_lab.reports.measures import MEASURES
from fairlock_lab.reports.noise import FEWEST_RUNS
from fairlock_lab.reports.parts import Drawing, digits
from fairlock_lab.reports.summary import Win, notes, wins
from fairlock_lab.reports.words import capital, counted, times

# --- in short ---


def summary_section(sources: Sequence[Source], groups: Sequence[Group]) -> str:
    pieces = list(advice(groups))
    text = "".join(
        f"<p{classes('aside' if piece.kind != 'lock' else '')}>{rich(piece.text)}"
        f'<span class="quiet small where">Measured in {escape(piece.where)}.</span></p>'
        for piece in pieces
    )
    if any(piece.disturbed for piece in pieces):
        text = f'<p class="warning">{NOT_RELIABLE}</p>{text}'
    if not pieces:
        text = f"<p>{NO_ADVICE}</p>"
    items = "".join(
        f"<li{classes('warning' if note.warning else '')}><b>{escape(note.lead)}</b> {rich(note.text)}</li>"
        for note in notes(sources, groups)
    )
    return f"""<div class="card">
<h2>Which lock should I use here?</h2>
<div class="advice">{text}</div>
{winners(wins(groups))}
<ul class="notes">{items}</ul>
</div>"""


def winners(wins: Sequence[Win]) -> str:
    """Return the winners: with one thread, with the most threads that have processors, and with the most threads."""
    rows: dict[tuple[str, str], list[Win]] = {}
    for win in wins:
        rows.setdefault((win.group.slug, win.kind), []).append(win)
    lines = []
    for (slug, kind), row in rows.items():
        group = row[0].group
        regimes: dict[int, Win] = {}
        for win in row:
            regimes[3 if win.threads == 0 else 0 if win.threads == 1 else 2 if win.crowded else 1] = win
        suffix = f"<small>{escape(kind)}</small>" if len(group.kinds) > 1 else ""
        cells = [winner(regimes[i]) if i in regimes else "" for i in range(4)]
        lines.append([f'<a href="#{slug}">{escape(group.title)}</a>{suffix}', *cells])
    heads = ["winners", "one thread", "a CPU for each thread", "more threads than CPUs", "with its own threads"]
    used = [i for i in range(len(heads)) if any(line[i] for line in lines)]
    if not used:
        return ""
    text = "In brackets: the 95 % interval of the ratio, from the ratios within each run."
    rows_used = [[line[i] for i in used] for line in lines]
    return f'{table([heads[i] for i in used], rows_used, kind="stack")}<p class="small quiet">{text}</p>'


def winner(win: Win) -> str:
    threads = f" at {win.threads}" if win.threads > 1 else ""
    words = win.words
    if win.against is not None and win.against[0] not in words:
        usual, ratio = win.against
        words += f"; {times(ratio)} {win.better} {usual}"
    return f"<b>{escape(win.contest.best)}</b> {escape(win.value)}{threads}<small>{escape(words)}</small>"


# --- one group ---


def group_section(group: Group, drawings: Sequence[Drawing]) -> str:
    shown = [drawing for drawing in drawings if not drawing.folded]
    folded = [drawing for drawing in drawings if drawing.folded]
    others = unfoldable("Other numbers of threads", figures(folded)) if folded else ""
    return f"""<div class="head"><h2>{escape(group.title)}</h2>
{"".join(lede(group))}</div>
{figures(shown)}
{others}{unfoldable("Numbers", numbers(group))}"""


def lede(group: Group) -> Iterator[str]:
    words = []
    if group.known is not None:
        workload, config = group.known
        yield f"<p>{escape(capital(workload.title))}. {escape(capital(config.title))}.</p>"
        words += [workload.paper] if workload.paper else []
    words += [f"waiting: {', '.join(group.waiting)}"] if group.waiting else []
    words += [f"{name}: {value}" for name, value in group.options.items()]
    if group.workload != WHOLE_PROGRAM:
        seconds = sorted({point.seconds for point in group.points.values()})
        words.append(f"windows of {' and '.join(f'{window:g}' for window in seconds)} s")
    yield f'<p class="quiet small">{escape(capital("; ".join(words)))}.</p>'


def figures(drawings: Sequence[Drawing]) -> str:
    """Return the figures in their places. A figure that would stand alone in its row takes the whole row."""
    places = [str(drawing.place) for drawing in drawings]
    if "side" not in places:
        places = ["whole" if place == "main" else place for place in places]
    halves = [i for i, place in enumerate(places) if place == "half"]
    if len(halves) % 2:
        places[halves[-1]] = "whole"
    return f'<div class="figures">{"".join(map(figure, drawings, places))}</div>'


def figure(drawing: Drawing, place: str) -> str:
    return f"""<figure class="{place}" aria-labelledby="t-{drawing.name}">
<h3 id="t-{drawing.name}">{escape(drawing.title)}</h3>
<div class="plot" data-figure="{drawing.name}" role="img" aria-label="{escape(drawing.alt)}"></div>
<figcaption>{escape(drawing.caption)}</figcaption>
</figure>
"""


def numbers(group: Group) -> str:
    """Return a table of the medians and quartiles of a group."""
    measures = [name for name in MEASURES if group.has(name)]
    rows = []
    for i, point in group.points.items():
        cells = []
        for name in measures:
            median, write = group.figure(i, name), MEASURES[name].write
            quartiles = f"{write(median.low)} to {write(median.high)}" if median else ""
            cells.append(f"{write(median.median)}<small>{quartiles}</small>" if median else "")
        rows.append(
            [escape(group.labels[i]), str(point.threads or ""), *cells, str(len(group.source.table.samples(i)))]
        )
    heads = ["lock", "threads", *(MEASURES[name].title for name in measures), "runs"]
    return table(heads, rows, numbers=range(1, len(heads)), kind="tight")


# --- two files ---

PILLS = {"slower": "bad", "less fair": "bad", "faster": "good", "fairer": "good"}


def comparison_section(comparison: compare.Comparison, drawings: Sequence[Drawing]) -> str:
    old, new = escape(comparison.old.path.name), escape(comparison.new.path.name)
    changed = [change for change in comparison.changes if change.verdict in PILLS]
    changed.sort(key=lambda change: not change.regression)
    shown = [drawing for drawing in drawings if not drawing.folded]
    folded = [drawing for drawing in drawings if drawing.folded]
    others = [
        f'<li class="warning"><b>Different:</b> {escape(difference)}</li>' for difference in comparison.differences
    ]
    if comparison.only:
        names = f"{counted(len(comparison.only), 'point')}, such as {comparison.only[0]}"
        others.append(f"<li><b>Not compared:</b> {escape(names)}.</li>")
    rule = (
        f"A verdict needs at least {FEWEST_RUNS} runs in each file, and a difference that chance does not explain, "
        "given the number of comparisons and the typical noise of these files."
    )
    return f"""<div class="card">
<h2>{new} against {old}</h2>
<div class="advice"><p>{escape(comparison.words)}</p></div>
<p class="quiet small">{rule} The other figures on this page are those of {new}.</p>
<ul class="notes">{"".join(others)}</ul>
{changes_table(changed) if changed else ""}
{figures(shown)}
{unfoldable("All comparisons", figures(folded) + changes_table(comparison.changes))}
</div>"""


def changes_table(changes: Sequence[compare.Change]) -> str:
    heads = ["where", "lock", "measure", "old", "new", "change", "95 % interval", "verdict"]
    rows = []
    for change in changes:
        verdict, *cells = compare.cells(change)
        rows.append([*map(escape, cells), pill(verdict, PILLS.get(verdict, ""))])
    return table(heads, rows, numbers=(3, 4, 5), kind="stack lines")


# --- all samples ---

SAMPLE_MEASURES = (
    *("throughput", "fairness", "jain", "longest_wait", "ns", "phases", "migrations"),
    *("score", "cost", "wall", "user", "system", "other_work"),
)


def sample_measures(groups: Sequence[Group]) -> list[str]:
    return [name for name in SAMPLE_MEASURES if any(group.has(name) for group in groups)]


def sample_rows(groups: Sequence[Group]) -> Iterator[list[Any]]:
    measures = sample_measures(groups)
    for group in groups:
        for i in group.numbers:
            for sample in group.source.table.samples(i):
                values = [value_of(sample.metrics, name) for name in measures]
                where = [group.title, group.labels[i], group.points[i].threads, sample.run, sample.seed, sample.at]
                yield [*where, *(None if value is None else digits(value) for value in values)]


def samples_section(groups: Sequence[Group]) -> str:
    """Return the table without its rows: page.js adds them when a reader unfolds it."""
    names = [name.replace("_", " ") for name in sample_measures(groups)]
    heads = ["where", "lock", "threads", "run", "seed", "at, s", *names]
    inside = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    many = sum(1 for group in groups for _ in group.samples())
    whole = f'<div class="scroll tall"><table class="tight"><thead><tr>{inside}</tr></thead></table></div>'
    return f"<h2>Samples</h2>{unfoldable(f'All {many} samples', whole, 'samples')}"
