# SPDX-License-Identifier: Apache-2.0
"""What a person reads at the end: medians with their spread, and ratios to what one would otherwise use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fairlock import table
from fairlock_lab.benchmarks import compare_program
from fairlock_lab.benchmarks.figures import Figure, Table
from fairlock_lab.benchmarks.measures import measure, number
from fairlock_lab.benchmarks.other_work import DISTURBED, disturbance
from fairlock_lab.benchmarks.results import Results
from fairlock_lab.benchmarks.workloads import WORKLOADS

# In this order, as far as they were measured beside the others.
RIVALS = {
    "pthread-mutex": "x pthread",
    "std-mutex": "x std",
    "pthread-mutex-pi": "x PI",
    "ck-ticket": "x ck-ticket",
    "sem_t": "x sem_t",
}
OVERSUBSCRIBED = "*"


def print_head(results: Results) -> None:
    machine = results.machine
    compiler = f", {machine['compiler']}" if machine.get("compiler") else ""
    cpu, governor, kernel = (machine.get(key, "unknown") for key in ("cpu", "governor", "kernel"))
    print(f"{cpu}, {machine['cpus']} CPUs, governor {governor}, {kernel}{compiler}")
    for what, why in results.missing.items():
        print(f"{what}: {why}")


def print_results(results: Results) -> None:
    """Print a table for each config, or one for all configs, idle and beside hogs."""
    samples = Table(results)
    points = results.plan.points
    places = dict.fromkeys((one.workload, "" if columns_of(one.workload) else one.config, one.hogs) for one in points)
    for workload, config, hogs in places:
        found = samples.find(workload=workload, hogs=hogs, **({"config": config} if config else {}))
        control = WORKLOADS[workload].control if workload in WORKLOADS else None
        rows = [i for i in found if control is None or samples.points[i].lock != control]
        if rows:
            print_title(workload, config, hogs)
            if workload == compare_program.WORKLOAD:
                print(f"{samples.points[rows[0]].options.get('command')}\n")
            if changed := changes(samples, rows):
                print(f"changed with --set: {', '.join(changed)}\n")
            if workload == "overhead":
                print_overhead(samples, rows)
            elif columns := columns_of(workload):
                text = lock_table(samples, rows, measures_of(workload, config), columns)
                print(f"spread: between the quartiles\n{text}")
            else:
                print_config(samples, rows, measures_of(workload, config))
        if control is not None:
            print_control(samples, [i for i in found if samples.points[i].lock == control])
    print_notes(samples)


def print_title(workload: str, config: str, hogs: int) -> None:
    known = WORKLOADS.get(workload)
    title = f"{known.title}\n{config}: {known.configs[config].title}" if known and config in known.configs else config
    if known and not config:
        title = known.title
    print(f"\n{workload}: {title}" + (f"; beside {hogs} processes that burn CPU" if hogs else "") + "\n")


def changes(samples: Table, rows: Sequence[int]) -> list[str]:
    """Return the options that are not as the title says."""
    point = samples.points[rows[0]]
    known = WORKLOADS.get(point.workload)
    if known is None or point.config not in known.configs:
        return []
    usual = known.configs[point.config].options
    shown = {True: "yes", False: "no"}
    return [
        f"{name}={shown[value] if isinstance(value, bool) else value}"
        for name, value in point.options.items()
        if usual.get(name) != value
    ]


def measures_of(workload: str, config: str) -> tuple[str, ...]:
    if workload == compare_program.WORKLOAD:
        return compare_program.MEASURES
    known = WORKLOADS.get(workload)
    if known is None or (config and config not in known.configs):
        return ("throughput", "fairness")
    return (config and known.configs[config].measures) or known.measures


def rivals_of(workload: str) -> list[str]:
    known = WORKLOADS.get(workload)
    return [name for name in RIVALS if known is None or name in known.rivals]


def columns_of(workload: str) -> Mapping[str, str]:
    known = WORKLOADS.get(workload)
    return known.columns if known is not None else {}


def print_config(samples: Table, rows: Sequence[int], measures: Sequence[str]) -> None:
    counts = sorted({samples.points[i].threads for i in rows})
    if len(counts) == 1:
        team = f"{threads(counts[0])}{mark(samples, rows)}; " if counts[0] else ""
        print(f"{team}spread: between the quartiles")
        print(lock_table(samples, rows, measures))
        return
    for i, name in enumerate(measures):
        text = over_threads(samples, rows, name, counts)
        if text:
            better = f" ({measure(name).better} is better)" if measure(name).better else ""
            print(f"{measure(name).title}{better}, by threads; in brackets: between the quartiles")
            print(text + ("" if i + 1 == len(measures) else "\n"))


def over_threads(samples: Table, rows: Sequence[int], name: str, counts: Sequence[int]) -> str:
    """Return a table with a column for each number of threads, and the ratio to pthread's at the last that has CPUs."""
    labels = dict.fromkeys(samples.points[i].label for i in rows)
    place = {(samples.points[i].label, samples.points[i].threads): i for i in rows}
    heads = {n: f"{n}{mark(samples, [i for i in rows if samples.points[i].threads == n])}" for n in counts}
    last = max([n for n in counts if not heads[n].endswith(OVERSUBSCRIBED)], default=counts[0])
    # Of fairness and its like, a ratio says nothing.
    rivals = rivals_of(samples.points[rows[0]].workload) if measure(name).scales and len(labels) > 1 else []
    rival = next((one for one in rivals if (one, last) in place), None)
    lines = []
    for label in labels:
        cells = [cell(samples, place.get((label, n)), name) for n in counts]
        if any(cells):
            mine = place.get((label, last))
            lines.append([label, *cells, *([ratio(samples, mine, place[rival, last], name)] if rival else [])])
    if not lines:
        return ""
    header = ["lock", *heads.values(), *([f"{RIVALS[rival]} at {last}"] if rival else [])]
    return table.render(header, lines, right=header[1:])


def lock_table(
    samples: Table, rows: Sequence[int], measures: Sequence[str], columns: Mapping[str, str] | None = None
) -> str:
    """Return a table with a line for each lock and a column for each measure, and the first measure's ratios to rivals.

    With columns, the table covers several configs, and also shows the number of threads and these options.
    """
    shown = [name for name in measures if any(samples.figure(i, name) for i in rows)]
    points = samples.points
    place = {(points[i].config, points[i].threads, points[i].lock): i for i in rows}
    named = {points[i].lock for i in rows}
    rivals = [name for name in rivals_of(points[rows[0]].workload) if name in named and len(rows) > 1]
    heads = ["threads", *columns.values()] if columns else []
    first, *others = shown or [""]
    of_first = [measure(first).head, "spread", *(RIVALS[name] for name in rivals)] if first else []
    header = [*heads, "lock", *of_first, *(measure(name).head for name in others)]
    found, before = [], None
    for i in rows:
        point = points[i]
        where = [f"{point.threads}{mark(samples, [i])}", *(point.options.get(one, "") for one in columns or {})]
        line = [*(where if where != before else [""] * len(heads))] if columns else []
        before = where
        line += [point.label + (DISTURBED if samples.disturbed(i) else "")]
        if first:
            theirs = [place.get((point.config, point.threads, name)) for name in rivals]
            ratios = [ratio(samples, i, rival, first) if rival is not None else "" for rival in theirs]
            line += [median(samples, i, first), spread(samples.figure(i, first)), *ratios]
        found.append([*line, *(median(samples, i, name) for name in others)])
    return table.render(header, found, right=[head for head in header if head != "lock"])


def print_overhead(samples: Table, rows: Sequence[int]) -> None:
    """Print how much longer the harness's loop takes than one written by hand."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for sample in (sample for i in rows for sample in samples.samples(i)):
        for row in sample.metrics.get("rows", ()):
            pairs.setdefault(row["lock"], []).append((row["loop_ns"], row["hand_ns"]))
    lines = []
    for lock, both in pairs.items():
        loop, hand = (Figure.of([pair[i] for pair in both]) for i in (0, 1))
        more = Figure.of([ours - by_hand for ours, by_hand in both])
        lines.append(
            [
                lock,
                number(loop.median),
                number(hand.median),
                f"{more.median:+.2f}",
                f"{more.low:+.2f} to {more.high:+.2f}",
            ]
        )
    header = ["lock", "the harness's loop, ns", "by hand, ns", "more", "half of the runs"]
    print(table.render(header, lines, right=header[1:]))


def print_control(samples: Table, rows: Sequence[int]) -> None:
    """Print whether the lock that is there to be caught was."""
    for i in rows:
        point = samples.points[i]
        caught = sum(bool(sample.metrics.get("caught")) for sample in samples.samples(i))
        runs = len(samples.samples(i))
        print(f"negative control: {point.label}, {threads(point.threads)}: caught in {caught} of {runs} runs")


def print_notes(samples: Table) -> None:
    """Print what a reader of the tables has to know."""
    every = samples.results.samples
    notes = []
    if any(sample.oversubscribed for sample in every):
        notes.append(f"{OVERSUBSCRIBED} more threads than processors.")
    notes += disturbance(samples)
    unavailable = {
        str(perf["unavailable"])
        for sample in every
        if isinstance(perf := sample.metrics.get("perf"), dict) and "unavailable" in perf
    }
    asked = any("perf" in name for p in samples.points for name in measures_of(p.workload, p.config))
    if unavailable and asked:
        notes.append(f"perf counters are not available here ({', '.join(sorted(unavailable))}).")
    notes += undecidable(samples)
    if notes:
        print("\n" + "\n".join(notes))


def undecidable(samples: Table) -> list[str]:
    """Return a line for each config that says nothing of locks on this machine."""
    lines = {}
    for sample in samples.results.samples:
        if sample.metrics.get("decidable") is False:
            point = samples.points[sample.point]
            lines[point.config] = (
                f"{point.workload} {point.config}: not decidable here: {sample.metrics.get('reason')}."
            )
    return list(lines.values())


# --- cells ---


def mark(samples: Table, rows: Iterable[int]) -> str:
    over = any(sample.oversubscribed for i in rows for sample in samples.samples(i))
    return OVERSUBSCRIBED if over else ""


def cell(samples: Table, point: int | None, name: str) -> str:
    figure = samples.figure(point, name) if point is not None else None
    if figure is None or point is None:
        return ""
    flag = DISTURBED if samples.disturbed(point) else ""
    more = f" ({spread(figure)})" if figure.runs > 1 else ""
    return f"{measure(name).show(figure.median)}{more}{flag}"


def median(samples: Table, point: int, name: str) -> str:
    figure = samples.figure(point, name)
    return measure(name).show(figure.median) if figure is not None else ""


def spread(figure: Figure | None) -> str:
    if figure is None or figure.runs == 1:
        return ""
    return f"{100 * figure.spread:.0f}%" if figure.spread < 10 else ">999%"


def ratio(samples: Table, mine: int | None, theirs: int, name: str) -> str:
    figure = samples.ratio(mine, theirs, name) if mine is not None else None
    return f"{figure.median:.2f}" if figure is not None else ""


def threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"
